# SPDX-License-Identifier: Apache-2.0
"""Operations of a kernel by the shapes of its tensors; a multiply-add counts as two."""

from math import prod

# The operators that captures run, in small letters and without their versions.
MATRICES = ("matmul", "batchmatmul")
GATHERED = ("allgathermatmul",)
GROUPED = ("groupedmatmul",)
CONVOLUTIONS = ("conv2d", "conv2dbackpropinput", "conv2dbackpropfilter")
ATTENTION = ("flashattentionscore", "flashattentionscoregrad", "fusedinferattentionscore")

NO_FORMULA = "no formula for this operator"
NO_FORMULA_OF_MATRICES = "no formula for this type"
MATRIX_WORDS = ("matmul", "gemm", "flashattention", "pagedattention", "fusedinferattention", "sdpa")
NO_MATRIX_WORK = "no matrix work"
NO_SHAPES = "no shapes"
LAYOUT = "unsupported layout"
MISFIT = "shapes do not fit together"
NO_ARGUMENTS = "no attention arguments"


def kind(op_type):
    """The operator without letter case and version; empty for one that does no matrix work."""
    name, version, digits = op_type.lower().rpartition("v")
    base = name if version and digits.isdecimal() else op_type.lower()
    return base if base in MATRICES + GATHERED + GROUPED + CONVOLUTIONS + ATTENTION else ""


def does_matrix_work(op_type):
    name = op_type.lower()
    return name.startswith(("conv", "quantconv")) or name in ("mm", "bmm") \
        or any(word in name for word in MATRIX_WORDS)


def shapes(text):
    """Of each tensor its sizes; none for a tensor that the operator was not given."""
    return [[int(size) for size in tensor.split(",") if size] for tensor in text.split(";")]


def names(text):
    """Types or formats of tensors."""
    return [name.upper().removeprefix("DT_").removeprefix("FORMAT_") for name in text.split(";")]


def operations(op_type, tensors):
    """(operations, "") or (None, why they are not known)."""
    family = kind(op_type)
    if not family:
        return None, NO_FORMULA_OF_MATRICES if does_matrix_work(op_type) else NO_FORMULA
    inputs, outputs = shapes(tensors.input_shapes), shapes(tensors.output_shapes)
    if family in ATTENTION:  # no capture has marks that tell its arguments
        return None, NO_ARGUMENTS if len(inputs) > 2 and all(inputs[:3]) else NO_SHAPES
    if family in CONVOLUTIONS:
        return _convolution(family, inputs, outputs, tensors)
    if not (outputs and outputs[0] and len(inputs) > 1 and inputs[0] and inputs[1]):
        return None, NO_SHAPES
    left, right, result = *inputs[:2], outputs[0]
    if family in GATHERED:
        left = [result[0], *left[1:]]  # the rows of all devices
    if family in GROUPED:
        right = right[-2:]  # every row is multiplied with the matrix of one group
    if family != "batchmatmul" and not len(left) == len(right) == len(result) == 2:
        return None, LAYOUT
    return _product(left, right, result)


def _product(left, right, result):
    """2 m n k for each matrix of the result; inputs may be transposed."""
    *batch, rows, columns = result
    if len(batch) != max(len(left), len(right)) - 2:
        return None, MISFIT
    for *left_batch, m, k in (left, left[:-2] + left[:-3:-1]):
        for *right_batch, inner, n in (right, right[:-2] + right[:-3:-1]):
            fits = all(size in (1, whole) for sizes in (left_batch, right_batch)
                       for size, whole in zip(reversed(sizes), reversed(batch)))
            if fits and (m, n, inner) == (rows, columns, k):
                return 2 * prod(result) * k, ""
    return None, MISFIT


def _convolution(family, inputs, outputs, recorded):
    """2 x positions of the result x its channels x (channels x area that one value is made of),
    the same for both gradients."""
    tensors = list(zip(inputs, names(recorded.input_formats) + [""] * len(inputs)))
    result = (outputs[0], names(recorded.output_formats)[0]) if outputs else ([], "")
    bias = []
    if family == "conv2d":
        bias = tensors[2][0] if len(tensors) > 2 else []
        taking_part = [*tensors[:2], result]
    else:  # a tensor of one dimension says how large the result has to be
        given = [tensor for tensor in tensors if len(tensor[0]) != 1]
        image = family == "conv2dbackpropinput"
        taking_part = [result, *given[:2]] if image else [*given[:1], result, *given[1:2]]
    if len(taking_part) < 3 or not all(shape for shape, _ in taking_part):
        return None, NO_SHAPES
    (image, image_format), (weight, weight_format), (output, output_format) = taking_part
    formats = (image_format, len(image)), (weight_format, len(weight)), (output_format, len(output))
    if formats != (("NC1HWC0", 5), ("FRACTAL_Z", 4), ("NC1HWC0", 5)):
        return None, LAYOUT
    # Channels are in tiles: (n, c1, h, w, c0), and the filter (c1 h w, n1, n0, c0).
    inner = weight[0] * weight[3]
    channels = min(weight[1] * weight[2], output[1] * output[4], *bias)
    if inner % (image[1] * image[4]):
        return None, MISFIT
    return 2 * output[0] * output[2] * output[3] * channels * inner, ""
