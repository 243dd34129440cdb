"""How much effort polybuild takes: limits of searches, proofs and generated code.

Whoever is at such a limit goes on with less: the next simpler way, at last the original order. Nothing here
follows from hardware, whose figures are in ``machine/``, and nothing there is about the tool's own time.
"""

from __future__ import annotations

# --- isl's operations: a million take about a second --------------------------------------------------------

REGION_OPERATIONS = 10_000_000
"""For one analysis, or all transformations, of a region of some lines: about twenty seconds' work at most."""
REGION_LINES = 100
"""Lines of a region that are worth that: it is the number of regions that must not matter."""
EXACT_DEPENDENCES = 0.4
"""The part of these that exact dependences may take: over-approximated ones take half a second, and what
comes after them works with either."""
DETECTED_SHARE = 3
"""One of so many parts of that is for a loop that nobody marked, half of it after each that took all,"""
DETECTED_HALVINGS = 1
"""which happens so often at most: usual loops take a small part of what is left then."""
QUESTION_OPERATIONS = 256
"""What is counted for any question that has a budget of its own: asking it takes time as well."""
SEARCH_OPERATIONS = 9_000_000
"""For the search for an order of a region, whatever its size: few need a third of it."""
TRIAL_SEARCH_OPERATIONS = 3_000_000
"""For that of a loop that nobody marked,"""
TRIALS_OPERATIONS = 10_000_000
"""and for all of these of a file: what is left after that is not tried. Those that seem to do the most come
first."""
EXACT_PAIRS = 10_000
"""Pairs of pieces of the accesses to an array beyond which exact ones are not tried: they do not come to an
end. Usual regions have some hundred,"""
HULL_PIECES = 8
"""and pieces of an access beyond which over-approximated ones are found for the hull of it."""
PAIRED_PIECES = 48
"""Pieces of the accesses of a statement up to which those pairs are left out that meet nowhere,"""
EMPTY_PIECE_OPERATIONS = 1_000_000
"""in so many operations."""
PROJECTION_OPERATIONS = 1_000_000
"""For counters that others determine."""
PRIVATE_MODEL_OPERATIONS = 4_000_000
"""For finding out in what elements the values of private variables end up,"""
PRIVATE_EXPANSION_OPERATIONS = 3_000_000
"""and for an order of what is expanded instead;"""
PRIVATE_SHARE = 0.5
"""together this part of what is left for a region: an order without that has to be found, too."""
SHARING_OPERATIONS = 2_000_000
"""For finding the loops that ranks share, and what these send each other."""
STEPS_TOGETHER = 8
"""Steps over time that ranks take between two exchanges, at most,"""
USUAL_RANKS = 8
"""and how many ranks there are where that is decided."""
PIVOT_OPERATIONS = 3_000_000
"""For statements of their own at pivots, and an order of these."""
OVERLAP_OPERATIONS = 4_000_000
"""For stages in tiles that overlap."""
COMPARISON_OPERATIONS = 3_000_000
"""For the costs of a region's versions, and for each of the limits that follow from them."""
CROSSING_OPERATIONS = 1_000_000
"""For the size from which on threads gain within a sequential loop."""
PREDICTION_OPERATIONS = 1_000_000
"""For telling those costs in the report."""
PLAN_OPERATIONS = 20_000_000
"""For what a region takes on more ranks, which is asked for by hand."""
PLANNED_RANKS = 4096
"""Ranks for which that may be asked: each is asked whether it sends anything."""
WEIGHED_VALUES = 128
"""Values whose work is counted to predict what blocks ranks will have."""
SUMMED_VALUES = 4
"""Values of a function that are all added up,"""
SUMMED_CLOSE = 0.01
"""and by how much two estimates of more of them may differ, relatively."""
INSTANCE_CHECK_OPERATIONS = 400_000
"""For comparing what the loops of a statement without divisions run with its domain, beside others."""
PROOF_OPERATIONS = 4_000_000
"""For what is proved by all accesses to the same memory."""
ADVICE_OPERATIONS = 200_000
"""For one kind of advice."""
STEP_ADVICE_OPERATIONS = 2_000_000
"""For advice on steps over grids: without some statements these are looked at as if they were the region."""
EXPANSION_OPERATIONS = 400_000
"""For keeping one array that the program sees in variables."""
REDUCTION_OPERATIONS = 1_000_000
"""For orders that run reductions in parallel."""
HINT_OPERATIONS = 200_000
"""For telling what reductions would bring that are not allowed."""
CONTRACTION_OPERATIONS = 1_000_000
"""For buffers and variables in place of temporary arrays."""
SCHEDULE_NUMBER = 20
"""The largest coefficient and shift of a loop that isl's scheduler looks for, as in Polly, unless dependences
have larger ones. Extents that are constants got into its rational programs, and it was at work for minutes in
steps that count as nothing."""
SCHEDULE_SIZE = 32
"""The largest extent that isl's scheduler takes as a number. Its time grows with that: with 39 and 81 for the
extents of an image, the six statements of a median took it half a minute, and as parameters half a second."""
ORDER_OPERATIONS = 2_000_000
"""For an order of our own scheduler that is asked for,"""
TRIAL_OPERATIONS = 400_000
"""and for one that is a trial, which takes about a second."""
CANDIDATE_OPERATIONS = 1_000_000
"""For mapping a candidate, and for its predicted cost."""
KERNEL_CONTRACTION_OPERATIONS = 1_000_000
"""For another order, in which the threads of a device keep temporary arrays."""
SERIAL_VERSION_LINES = 150
"""Lines of the body of a parallel loop that one thread has a copy of."""
KERNEL_DEGREE_OPERATIONS = 1_000_000
"""For telling which loops around a statement are long, on a device."""
KERNEL_MODEL_OPERATIONS = 4_000_000
"""For another form of the model of a device: values in elements, or reductions in parts."""
KERNEL_PROOF_OPERATIONS = 1_000_000
"""For proving the order of a device's kernels by memory."""
KERNEL_TILING_OPERATIONS = 8_000_000
"""For tiles over time on a device: finding them, mapping them and proving that."""
COALESCING_OPERATIONS = 800_000
"""For finding an element for the values of one web."""
GUARDED_VALUE_OPERATIONS = 200_000
"""For one variable that is set and used under the same condition."""
WORK_ARRAY_OPERATIONS = 200_000
"""For one array that each iteration of a loop may set anew."""
WORK_ARRAY_ELEMENTS = 1 << 15
"""Elements of such an array at most: each thread has one on its stack."""
BUFFER_OPERATIONS = 400_000
"""For a buffer at one node of the tree."""
REMATERIALISATION_OPERATIONS = 400_000
"""For finding out what the last value of one variable is computed from."""
GRAFT_OPERATIONS = 400_000
"""For statements at single places that are put back inside of the loops of tiles."""
PROMOTION_OPERATIONS = 400_000
"""For one array whose elements iterations update under conditions."""
SPLITTING_OPERATIONS = 400_000
"""For the statements of one nest that are split at its borders."""
UNIT_TRIALS = 12
"""Sets of parameters that are tried as 1 together, as strides of rows and of columns are."""
ALTERNATING_OPERATIONS = 70_000
"""For each of many statements in loops over storage that alternates, which are split by steps of a period."""
DIVIDED_OPERATIONS = 1_600_000
"""For the rows of one region whose subscripts divide."""
FOLDING_OPERATIONS = 8_000_000
"""For the copies of one loop over time, which are checked access by access."""
REROLLING_OPERATIONS = 6_000_000
"""For joining what stands at one place."""
COPIED_PIECES = 16
"""Pairs of pieces of two subscripts, at most, of statements that may be copies: unrolled ones have one."""
PROGRAM_OPERATIONS = 10_000
"""For one integer program of the scheduler: PolyBench's take 4,000 at most. Where cuts do not converge,
numbers grow, and with them the time: 10,000 take 0.1 s, 30,000 over one."""
MINIMUM_PROGRAM_OPERATIONS = 2_000
"""For one that is so large that PROGRAM_COEFFICIENTS leave it less."""
PROGRAM_COEFFICIENTS = 15_000_000
"""What coefficients times operations of a program may be: each operation goes over all coefficients."""
CONSTRAINT_OPERATIONS = 4
"""For one constraint of a program, besides."""
SOON_SETTLED = 16
"""One of so many parts of all this settles most programs: the constraints of others are looked at first."""

# --- Reading: characters, nodes, calls, guesses -------------------------------------------------------------

LONG_DECLARATION = 4000
"""Characters from which on a declaration is read without its initialisers."""
PARSE_REPAIRS = 60
"""How often a function is parsed anew without a construct that is not in the standard."""
PARSED_CHUNKS = 4096
"""Declarations and functions of a file that are kept as they were parsed."""
FOLLOWED_STATEMENTS = 3000
"""Statements, beside as many as a region has nodes, that are walked through to follow variables in loops."""
DETECTED_DEPTH = 4
"""How often a loop that nobody marked, and that is refused, gives way to those inside."""
INLINED_CALLS = 8
"""Calls inside each other that are inlined."""
COALESCED_DIMENSIONS = 4
"""Dimensions that one loop runs over, as written, which become loops of their own."""
LONG_ROW = 16
"""Elements of a row from which on a loop over all elements of a grid is as good as loops over its rows."""
INITIALISED_ELEMENTS = 64
"""Elements of an array whose initialiser is written as assignments,"""
ZEROED_ELEMENTS = 8
"""and zeros of one beyond which these are a loop."""
TABLE_ITERATIONS = 32
"""Steps of a loop over a table of directions that are written out: 27 are those of a cube,"""
TABLE_STATEMENTS = 160
"""and the statements that the loop becomes by that."""
NEIGHBOUR_TERMS = 32
"""Terms of a sum over neighbours of a grid point that becomes one expression: 27 are those of a cube."""
STEPS_OVER_PLANES = 3
"""Loops around a point of a grid of two dimensions, with that over time."""
STEPS_OVER_LINES = 2
"""The same of a line."""
SEPARATE_LAYERS = 2
"""Conditions under which a point is changed, as near one side of a grid each, that are loops of their own."""
VALUE_NODES = 200
"""Nodes of the syntax tree of a value that is known of a variable."""
GUESSED_DIMENSIONS = 5
"""Dimensions that a flat array may turn out to have,"""
GUESSED_SHAPES = 24
"""and shapes that are tried for it."""

# --- Models: pieces, statements, usual sizes ----------------------------------------------------------------

DEPENDENCE_PIECES = 10_000
"""Pieces of dependences beyond which only the original order is tried."""
ACCESS_PIECES = 16
"""Pieces of accesses to an array, of all statements, beyond which isl finds the dataflow of each alone."""
COALESCED_PIECES = 64
"""Accesses of a statement to one array beyond which their union is coalesced, while it has no more pieces."""
ACCESS_PAIRS = 10_000
"""Pairs of accesses to one array beyond which statements that follow each other are one."""
SINGLE_STATEMENTS = 72
"""Likewise, statements of a region, of which schedulers find an order in time as they are."""
BLOCK_PARTS = 8
"""Parts of what follows each other that set scalars for later, and others between them, that are not one."""
HIDDEN_TRIPS = 10
"""How often a loop runs, where nobody knows, that is part of a statement."""
LANES_LEFT = 0.5
"""Which part of the lanes has not left such a loop, on average, before the last one leaves it."""
DYNAMIC_TRIPS = 20
"""How often one runs with dynamic bounds, which mostly gathers: each step costs more than a plain one."""
POWERS_OF_TWO = 0.25
"""Part of the grids whose rows are a power of two apart, as pictures and transforms have them."""
FEW_INSTANCES = 500
"""Instances that are too few to matter."""
FULL_SHARE = 0.9
"""Instances over the product of trip counts from which on that product is what is said of them."""
ADVICE_STATEMENTS = 32
"""Statements of a region whose work is added up for advice, which takes long."""
ADVICE_SIZE = 1 << 40
"""No parameter is expected to be larger."""

# --- The scheduler and the search for tiles: coefficients, statements, distances ----------------------------

PIECE_INEQUALITIES = 10
"""Inequalities of a piece of a relation for whose forms multipliers are eliminated: from eleven on that was
seen to take minutes, which isl counts as nothing."""
BOX_DIMENSIONS = 6
"""Dimensions of a box, of which it may have more: each takes six times as long, 0.03 s with six of them,"""
BOX_SIDES = 8
"""inequalities of each of its dimensions, of both ends."""
FORM_CONSTRAINTS = 200
"""Constraints on the forms that are not negative on a dependence of which redundant ones are looked for:
each takes a linear program of all. The usual number is ten, a box of ten dimensions has a thousand."""
SCHEDULER_EFFORT = 4_000_000
"""Coefficients of all integer programs of a region, a second for each million."""
TRIAL_EFFORT = 1_000_000
"""The same for an order that is a trial."""
UNSETTLED_EFFORT = 30
"""How many times the usual effort a program takes that is given up."""
LARGEST_COEFFICIENT = 4
"""The largest coefficient that is wanted where it may be negative, and that is looked for first."""
SIGNED_STATEMENTS = 4
"""Statements of a program with signed coefficients, which branches for each of them."""
MINIMUM_SIZE = 17
"""Numbers from here on are taken for sizes; smaller ones may be true distances."""
NEAR_SIZES = 8
"""The maximum difference of numbers that are taken for one size."""
MINIMUM_SKEWED_TRIPS = 3
"""Iterations of a loop from which on skewing by it is linearising: a loop of two may be a stencil's."""
STENCIL_STEPS = 4
"""Steps over time from which on tiles over time are looked for: fewer share too little."""
SEPARATED_PIECES = 8
"""Pieces of statements, as of damping layers, at most that get loops of their own in tiles over time."""
STENCIL_STATEMENTS = 50
"""Statements of a stencil: offsets are looked for among all pairs of them."""
STENCIL_ALIGNMENTS = 8
"""Ways to align the counters of statements that are tried for a stencil."""
STENCIL_SCALES = ((1, 1), (2, 1), (2, 2), (3, 1), (3, 3), (4, 1), (4, 2), (4, 4), (6, 1), (6, 6))
"""What time and space of a stencil are multiplied by to have integers between those of the counters."""
PERIOD = 4
"""Iterations after which numbers that come back in turn do so."""
STENCIL_REACH = 32
"""Elements per iteration of the loop over time: what goes farther is bounded by the grid alone."""
FOLDED_DIMENSIONS = 2
"""Dimensions of a periodic grid that are folded, the first ones: rows in space are left whole."""
POINTED_FUNCTIONS = 4
"""Functions that a pointer which is called is compared with before a region."""
POINTER_CHOICES = 16
"""Choices of pointers by conditions on numbers for which what uses the pointers is written twice."""
STORAGE_PERIODS = (2, 3, 4)
"""Steps over time after which storage is used again, as of ``u[t % 2]``, that are looked for, and places of
rows after which ``in[x / 2]`` goes on,"""
ALTERNATING_STATEMENTS = 24
"""statements of such a loop once each step of a period has its own."""
TILE_SIZES = (128, 64, 48, 32, 24, 16, 8)
"""Iterations that are tried for the loops of a tile but the one for vectors, the best first."""
STREAM_SIZES = (2048, 1024, 512, 256)
"""Iterations that are tried before these where a tile is of long thin streams."""
TILE_HEIGHTS = (32, 24, 16, 12, 8, 6, 4, 3, 2)
"""Iterations of the loop over time that are tried for a tile of a plane or of space, the best first,"""
LINE_HEIGHTS = (1024, 512, 256, 128, 64, 32, 16, 8, 4, 2)
"""and for one of a line,"""
FOLDED_LINE_HEIGHT = 64
"""at most so many where its halves are folded: isl tells odd lengths from even ones, row by row."""
STRIP_PAGES = (2, 4)
"""Pages that are tried for a row of a tile that keeps temporary arrays in strips, after one."""
OVERLAPPED_ROWS = (16, 32, 64, 128)
"""Rows that are tried for a tile of stages: as few as keep small what is computed twice,"""
SMALL_OVERLAP = 0.97
"""which it is where twice the rows are that many times the work, at least, of two tiles."""
UNPREDICTED_WORK = 20_000
"""Statement instances from which new loops are taken to gain of which nothing is predicted."""
CERTAIN_GAIN = 1.1
"""How many times as fast loops must be predicted: below that the model does not tell them apart."""
CERTAIN_ORDER = 1.5
"""The same for other orders, of which it does not know what prefetchers make; it knows register tiles."""
SAME_TIME = 1.02
"""How many times as long loops may be predicted to take that are as fast as others."""
SHORT_TIME = 10_000
"""Nanoseconds below which loops are short: other orders have to gain as much as the last, to be certain."""
WARM_SIZES = 3
"""Sizes that caches hold at which loops are compared whose limit is memory beyond."""
COUNTED_TILES = 100_000
"""Places of tiles beyond which those of wavefronts are not counted for an explanation."""
FIXED_SIZE = 32
"""Parameters below that are taken to be the same at all sizes."""
EVEN_SIZE = 8
"""Of what sizes are multiples at which vectors and small tiles are taken to leave nothing over."""
NOMINAL_SIZE = 1000
"""What a parameter is taken to be, where nothing bounds it, to compare candidates; its square for lines,"""
NOMINAL_EDGES = (500, 200, 100, 50)
"""or the first of these with which no array has more bytes than most have,"""
NOMINAL_BYTES = 1 << 28
"""which is so many;"""
SMALL_SIZE = 16
"""and where it has to be smaller than another, as the extent of a window is."""
WINDOW_RADIUS = 3
"""What a parameter is taken to be whose negative value loops start at, as those over a window do."""
LOOP_START = 2
"""What a parameter is taken to be that loops start from, as those over the inner points of a grid do."""
MINIMUM_SIZES = (1, 2, 3)
"""What parameters are taken to be where few iterations are wanted, if there are any then."""
SIZE_STEP = 4
"""How many times smaller, or larger, the other sizes are that candidates are compared for."""
COMPILERS_UNROLL = 16
"""Iterations of loops that compilers are taken to unroll."""
LONG_LOOP = 64
"""Iterations for each lane from which on the last ones, which do not fill the lanes, do not count."""
LOOP_PARTS = 4
"""Parts of a loop: one that is uneven is looked at where the first or the last of them ends,"""
UNEVEN_TIMES = 1.5
"""if that many times as much is done there as at the other one."""
COUNTED_PIECES = 8
"""Pieces of a domain whose instances are counted one by one; those of more are counted as if in one."""
NARROWED_DIMENSIONS = 5
"""Dimensions of a set from which on those that are easily left out are, before limits of others are found."""
CONE_ROUNDS = 50
"""Rounds of the search for the smallest skew, each with the distances that the last one found."""
CONE_OFFSET = 16
"""The largest offset of a statement of a stencil, in iterations."""

# --- Generated code: copies and pieces ----------------------------------------------------------------------

UNROLLED_ITERATIONS = 8
"""The maximum trip count of a loop that is unrolled."""
UNROLLED_STATEMENTS = 32
"""Statements that a nest of unrolled loops becomes."""
ELEMENT_ITERATIONS = 16
"""The maximum trip count of a loop that is unrolled as it goes over elements of a small private array,"""
ELEMENT_STATEMENTS = 96
"""the statements that a nest of such loops becomes,"""
UNROLLED_ELEMENTS = 64
"""and how many elements such an array has at most, each a variable for compilers to find a register for."""
SWITCHED_LABELS = 16
"""Labels of a switch over data that becomes conditions."""
SMALL_VALUES = 16
"""Elements of a private array, and iterations of its loops, that become variables and copies."""
OVERLAPPED_ITERATIONS = 16
"""The maximum trip count of a loop that is unrolled within stages, where what is around it is for vectors."""
OVERLAPPED_WAVES = 3
"""The maximum number of tiles over time that pass on a value that none of them changes."""
UPDATE_PARTS = 24
"""Accesses of an update: one with more is no longer one that registers suit."""
EXPANDED_ARRAYS = 8
"""Arrays that the program sees and that variables are tried for."""
BORDER_WIDTH = 16
"""Iterations of a border at most; loops of no more than two times as many have no interior."""
BORDER_PARTS = 5
"""Parts of a statement that differ in what of a border they read from another grid: nine in a plane."""
SPLIT_STATEMENTS = 32
"""Statements of a region whose nests are split at borders."""
SPLIT_STATEMENTS_OVER_TIME = 18
"""The same in a loop around several nests, which depend on each other in all their parts."""
NEST_PARTS = 9
"""The interior of a nest and its sides: two for each loop of four."""
PIVOTS = 2
"""Rows and columns that a statement is split at: each makes three of it,"""
PIVOTED_STATEMENTS = 12
"""and so many statements there may be then."""
REROLLED_STATEMENTS = 200
"""Statements of a region: one with more is more than what somebody unrolled by hand."""
INDEX_LIMITS = (1 << 29, 1 << 26, 1 << 23)
"""Limits of the parameters that are tried for counters in ``int``."""

HISTOGRAM_BITS = 1 << 19
"""64 KiB for the elements of its own that each thread has, on its stack, of what data choose one of."""

# --- Proof by running: sizes and instances ------------------------------------------------------------------

SAMPLE_SIZES = (40, 24, 14, 9, 6, 4)
"""What parameters become: as large as can be run, so that tiles are crossed,"""
SMALL_SAMPLE = 2
"""and very small."""
NEAR_SAMPLES = (24, 12, 6, 4, 3, 2)
"""Of sizes that the source fixes, the iterations that are run."""
SAMPLE_CELLS = 16
"""Elements in each direction that the oracle looks at where data choose among any number."""
SAMPLE_INSTANCES = 700
"""Instances that are run; a second or two."""

# --- Processes: processor time in seconds, whatever else the machine does -----------------------------------

REGION_SECONDS = 14
"""For one region: budgets of operations, and the limit of the search, end the analysis long before. This is
for single calls of isl that they do not count, and for a thousand statements. What is tried again after that
has a quarter of it, and a quarter of that: a region ends within 20 s, whatever it is."""
WORTH_ASKING_NS = 20_000
"""What a region takes, in nanoseconds, of which asking whether threads gain is nothing: marks may pay."""
TRIAL_SECONDS = 5
"""For a loop that nobody marked, and a quarter of it where that is tried again."""
SURVEY_SECONDS = 20
"""For one loop of a survey."""
MAXIMUM_CRASHES = 2
"""Processes that may crash at work on a region before it is left alone."""

COLLECTED_OBJECTS = 200_000
"""Objects that Python makes until it looks for garbage among them, which takes it some ten milliseconds."""

# --- Other tools: seconds -----------------------------------------------------------------------------------

PREPROCESSOR_SECONDS = 120
"""For one run of the preprocessor,"""
DEVICE_COMPILER_SECONDS = 600
"""and for one of a device's compiler."""
