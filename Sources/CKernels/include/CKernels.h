#ifndef CKERNELS_H
#define CKERNELS_H

#include "CellKernel.h"
#include "FieldKernels.h"
#include "KernelSet.h"
#include "Memory.h"

#endif
