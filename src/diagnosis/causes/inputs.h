// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/job.h"

namespace mpa {

/// Notes who loads the data, as the names of PyTorch's iterators tell: the iterator itself, or
/// workers.
void NoteLoaders(const Job& job, AdviceFacts& facts);

/// Measures inputs of FP32 that are copied to the device and cast to half precision right after. A
/// cast counts where it is the next kernel behind a copy, other casts apart, and a kernel soon
/// after takes a tensor of its shape in half precision. None are known where shapes or data types
/// of kernels are not recorded.
void NoteCasts(const Job& job, Finding& found);

/// For a device that waits for data, and for copies that stop the host.
Advice LoaderAdvice();
Advice CopyAdvice();

}  // namespace mpa
