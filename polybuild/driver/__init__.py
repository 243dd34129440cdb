"""What runs the pipeline: requests, settings, files, regions, isolation, the cache."""
