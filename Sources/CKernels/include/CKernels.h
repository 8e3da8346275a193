#ifndef CKERNELS_H
#define CKERNELS_H

#include "CellKernel.h"
#include "Clock.h"
#include "FieldKernels.h"
#include "FileMap.h"
#include "KernelSet.h"
#include "Memory.h"

#endif
