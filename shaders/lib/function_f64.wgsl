// Functions of 64-bit floats as pairs of words (lib/doubles.wgsl), by an interpreter.
//
// Idea     The program of a function is a part of the parameters: a number of words, that many words, and a word more. A
//          word is an operation (the upper byte), and the registers of the result and of up to three operands, from the
//          lowest bits on; two words follow an operation that loads a constant. src/math/program.rs writes programs. As
//          text, inlined by compilers, a function would take as many sums and products as it has; the interpreter has one
//          of each, and is the same for all functions.
// Cost     An iteration per operation, of which quotients and roots have loops of their own. The program is the same for
//          all invocations: branches are uniform.
// Limits   64 registers, which are an array in private memory.
// Ends     Each operation advances by a word or more; programs are among the parameters, and shorter than these.

const OP_ADD: u32 = 1u;

const OP_SUB: u32 = 2u;

const OP_MUL: u32 = 3u;

const OP_LESS: u32 = 4u;

const OP_ADD_WORDS: u32 = 5u;

const OP_SUB_WORDS: u32 = 6u;

const OP_MUL_WORDS: u32 = 7u;

const OP_AND: u32 = 8u;

const OP_OR: u32 = 9u;

const OP_XOR: u32 = 10u;

const OP_NOT: u32 = 11u;

const OP_LEFT: u32 = 12u;

const OP_RIGHT: u32 = 13u;

const OP_EQUAL: u32 = 14u;

const OP_BELOW: u32 = 15u;

const OP_SELECT: u32 = 16u;

const OP_DIVIDE: u32 = 17u;

fn parameter_word(at: u32) -> u32 {
    return p.scalars[at >> 2u][at & 3u];
}

/// An operation on words. A comparison gives all ones or all zeros.
fn word_operation(op: u32, a: U64, b: U64, c: U64) -> U64 {
    let sum = add64(a, select(b, neg64(b), op == OP_SUB_WORDS));
    let moved = select(shl64(a, b.x & 63u), shr64(a, b.x & 63u), op == OP_RIGHT);
    let of_bits = select(select(a & b, a | b, op == OP_OR), select(a ^ b, ~a, op == OP_NOT), op >= OP_XOR);
    let holds = select(select(less_f64(a, b), less_u64(a, b), op == OP_BELOW), all(a == b), op == OP_EQUAL);
    let is_mask = op == OP_LESS || op == OP_EQUAL || op == OP_BELOW;
    var v = select(select(sum, mul64(a, b), op == OP_MUL_WORDS), of_bits, op >= OP_AND);
    v = select(select(v, moved, op >= OP_LEFT), (b & a) | (c & ~a), op == OP_SELECT);
    return select(v, select(U64(0u, 0u), U64(0xffffffffu, 0xffffffffu), holds), is_mask);
}

/// The function whose program begins at word `first` of the parameters.
fn function_f64(first: u32, x: F64, y: F64) -> F64 {
    var registers: array<vec2<u32>, 64>;
    registers[0] = x;
    registers[1] = y;
    var at = first + 1u;
    let end = at + parameter_word(first);
    while (at < end) {
        var word = parameter_word(at);
        // Operations without loops, up to a quotient or a root.
        while (at < end && word < (OP_DIVIDE << 24u)) {
            let op = word >> 24u;
            let a = registers[(word >> 6u) & 63u];
            let b = registers[(word >> 12u) & 63u];
            var v: U64;
            if (op == 0u) {
                v = U64(parameter_word(at + 1u), parameter_word(at + 2u));
                at += 2u;
            } else if (op <= OP_SUB) {
                v = add_f64(a, F64(b.x, b.y ^ (u32(op == OP_SUB) << 31u)));
            } else if (op == OP_MUL) {
                v = mul_f64(a, b);
            } else {
                v = word_operation(op, a, b, registers[(word >> 18u) & 63u]);
            }
            registers[word & 63u] = v;
            at += 1u;
            word = parameter_word(at);
        }
        if (at < end) {
            let a = registers[(word >> 6u) & 63u];
            let b = registers[(word >> 12u) & 63u];
            if ((word >> 24u) == OP_DIVIDE) {
                registers[word & 63u] = div_f64(a, b);
            } else {
                registers[word & 63u] = sqrt_f64(a);
            }
            at += 1u;
        }
    }
    return registers[0];
}
