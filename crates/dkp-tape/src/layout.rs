//! Where the adjoints of inner nodes stand.
//!
//! A backward pass goes from the last node to the first. A node's adjoint begins when the last operation that reads the node is carried back,
//! or before all of them where it comes from outside, and ends with the node's own operation. Its memory is then used again, most
//! recently used first, so that it is still in the caches: a program needs room for a few adjoints and not for all. Where an argument's adjoint is
//! just that of the result, as in a sum, it takes over its memory.

use crate::program::{Gradient, Kind, Slot};

/// Places adjoints, those of the nodes `outside` as there before the pass begins; returns how much memory they need. Nodes that nothing reads have none.
pub(crate) fn place_adjoints(slots: &mut [Slot], kinds: &[Kind], outside: &[u32]) -> usize {
    let mut memory = Free::default();
    let mut placed = vec![false; slots.len()];
    let place = |nodes: &[u32], slots: &mut [Slot], memory: &mut Free, placed: &mut [bool]| {
        for &index in nodes {
            let (slot, placed) = (&mut slots[index as usize], &mut placed[index as usize]);
            if let (Gradient::Inner(_), false) = (slot.gradient, *placed) {
                slot.gradient = Gradient::Inner(memory.take(slot.adjoint_size()));
                *placed = true;
            }
        }
    };
    place(outside, slots, &mut memory, &mut placed);
    for (index, kind) in kinds.iter().enumerate().rev() {
        let (Kind::Operation { op, arguments, .. }, Gradient::Inner(offset)) = (kind, slots[index].gradient) else {
            continue;
        };
        if !placed[index] {
            slots[index].gradient = Gradient::None;
            continue;
        }
        let alone = |a: &u32| arguments.iter().filter(|&other| other == a).count() == 1;
        let passed = op.passes().map(|i| arguments[i]).filter(alone).map(|a| a as usize);
        match passed.filter(|&a| !placed[a] && matches!(slots[a].gradient, Gradient::Inner(_))) {
            Some(a) => {
                slots[a].gradient = Gradient::Inner(offset);
                placed[a] = true;
                place(arguments, slots, &mut memory, &mut placed);
            }
            None => {
                place(arguments, slots, &mut memory, &mut placed);
                memory.free.push((offset, slots[index].adjoint_size()));
            }
        }
    }
    memory.end
}

/// Memory that is not in use: pieces before `end`, the latest last, and all behind it.
#[derive(Default)]
struct Free {
    free: Vec<(usize, usize)>,
    end: usize,
}

impl Free {
    fn take(&mut self, len: usize) -> usize {
        let fits = |&(_, piece): &(usize, usize)| piece >= len;
        let least = self.free.iter().filter(|p| fits(p)).map(|&(_, piece)| piece).min();
        let Some(at) = least.and_then(|least| self.free.iter().rposition(|&(_, piece)| piece == least)) else {
            self.end += len;
            return self.end - len;
        };
        let (offset, piece) = self.free.remove(at);
        if piece > len {
            self.free.push((offset + len, piece - len));
        }
        offset
    }
}

#[cfg(test)]
mod tests {
    use crate::Tape;
    use crate::program::{Gradient, Kind, aligned};
    use std::ops::Range;

    /// A chain of operations with branches that live long.
    fn program() -> std::sync::Arc<crate::Program> {
        let mut tape = Tape::new("chain");
        let x = tape.leaf("x", 10, 10);
        let (mut y, mut kept) = (tape.square(x), Vec::new());
        for i in 0..20 {
            y = tape.affine(y, 0.5, 1.0);
            if i % 7 == 0 {
                let small = tape.diagonal(y);
                kept.push(tape.square(small));
            }
        }
        let unused = tape.square(y);
        tape.affine(unused, 1.0, 0.0);
        let mut total = tape.squared_norm(y);
        for k in kept {
            let norm = tape.squared_norm(k);
            total = tape.add(total, norm);
        }
        tape.output("total", total);
        tape.finish()
    }

    #[test]
    fn adjoints_that_are_needed_at_once_stand_apart() {
        let program = program();
        let place = |i: usize| match program.slots[i].gradient {
            Gradient::Inner(at) => Some(at..at + program.slots[i].adjoint_size()),
            _ => None,
        };
        // from the last operation that reads a node to its own
        let life = |i: usize| {
            let reads =
                |kind: &Kind| matches!(kind, Kind::Operation { arguments, .. } if arguments.contains(&(i as u32)));
            let output = program.outputs.iter().any(|(_, n)| n.index as usize == i);
            let last = program.kinds.iter().enumerate().rev().find(|(r, k)| reads(k) && place(*r).is_some());
            i..=if output { usize::MAX } else { last.map_or(0, |(r, _)| r) }
        };
        let overlap = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
        let mut taken_over = 0;
        let nodes: Vec<usize> = (0..program.slots.len()).filter(|&i| place(i).is_some()).collect();
        for (n, &i) in nodes.iter().enumerate() {
            for &j in &nodes[..n] {
                let together = life(j).contains(&i);
                let shared = overlap(&place(i).unwrap(), &place(j).unwrap());
                let passed = matches!(&program.kinds[i], Kind::Operation { op, arguments, .. }
                    if op.passes().is_some_and(|k| arguments[k] as usize == j));
                taken_over += usize::from(shared && passed);
                assert!(!(together && shared) || passed, "nodes {j} and {i} share memory");
            }
        }
        assert_eq!(taken_over, 3, "each sum's adjoint is that of the sum before");
        // all but the leaf and two that nothing reads, in the room that a few of them would need
        assert_eq!(nodes.len(), program.slots.len() - 3);
        assert!(program.adjoints < 4 * aligned(100), "{}", program.adjoints);
    }
}
