#include "slurm_shim/app/app.h"

int main(int argc, char** argv) { return shim::app::run(argc, argv); }
