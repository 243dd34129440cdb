/* polybuild: what a program can ask about the polybuild it was built with. */
#ifndef POLYBUILD_H
#define POLYBUILD_H

#define POLYBUILD_VERSION "0.1.0"
#define POLYBUILD_VERSION_MAJOR 0
#define POLYBUILD_VERSION_MINOR 1
#define POLYBUILD_VERSION_PATCH 0

#endif
