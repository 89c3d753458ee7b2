//! Every order in which a log can be appended to, forked, cut and read, up to a bound.
//!
//! A log is shared by handles that do not know of each other. Each handle goes through a small program; all programs are
//! interleaved in every way, and after every step every handle and every snapshot is compared with a plain vector of its
//! own, which shares nothing.

use context_manager::{CHUNK_SLOTS, GROUP_SLOTS, Log};

/// One operation of one handle.
#[derive(Clone, Copy, Debug)]
enum Op {
    Append,
    /// Takes back this many values.
    RollBack(usize),
    /// Leaves a handle of its own behind, which is read later and appended to once.
    Fork,
    /// Keeps a snapshot, which is read at every later step.
    Read,
}

/// A handle, and what it should hold.
#[derive(Clone)]
struct Handle {
    log: Log<u32>,
    model: Vec<u32>,
}

impl Handle {
    fn agrees(&self) -> bool {
        let len = self.model.len();
        self.log.len() == len
            && self.log.iter().eq(&self.model)
            && self.log.iter().rev().eq(self.model.iter().rev())
            && self.log.last() == self.model.last()
            && self.log.get(len).is_none()
            && (0..len).all(|index| self.log.get(index) == self.model.get(index))
    }
}

#[derive(Clone)]
struct World {
    handles: Vec<Handle>,
    /// What was left behind: snapshots and forks.
    kept: Vec<Handle>,
    next: u32,
}

impl World {
    fn step(&mut self, who: usize, op: Op) {
        let handle = &mut self.handles[who];
        match op {
            Op::Append => {
                handle.log.push(self.next);
                handle.model.push(self.next);
                self.next += 1;
            }
            Op::RollBack(n_values) => {
                let len = handle.model.len().saturating_sub(n_values);
                handle.log.truncate(len);
                handle.model.truncate(len);
            }
            Op::Fork => {
                let mut fork = handle.clone();
                fork.log.push(self.next);
                fork.model.push(self.next);
                self.next += 1;
                self.kept.push(fork);
            }
            Op::Read => self.kept.push(handle.clone()),
        }
    }

    /// Runs what is left of the programs in every order; gives how many states were looked at.
    fn explore(&self, programs: [&[Op]; 2]) -> usize {
        assert!(self.handles.iter().chain(&self.kept).all(Handle::agrees), "{programs:?} are left");
        let mut states = 1;
        for who in 0..programs.len() {
            if let Some((op, rest)) = programs[who].split_first() {
                let mut next = self.clone();
                next.step(who, *op);
                let mut left = programs;
                left[who] = rest;
                states += next.explore(left);
            }
        }
        states
    }
}

const OPS: [Op; 4] = [Op::Append, Op::RollBack(2), Op::Fork, Op::Read];

/// Every program of three operations.
fn programs() -> impl Iterator<Item = [Op; 3]> {
    OPS.into_iter()
        .flat_map(|one| OPS.into_iter().flat_map(move |two| OPS.into_iter().map(move |three| [one, two, three])))
}

#[test]
fn every_interleaving_of_append_fork_rollback_and_read() {
    let all: Vec<[Op; 3]> = programs().collect();
    let mut states = 0;
    // A few values, and both sides of the border of a chunk and of a group; the long ones take every ninth program or
    // every thirtieth.
    let chunk = [CHUNK_SLOTS - 1, CHUNK_SLOTS, CHUNK_SLOTS + 1].map(|len| (len, 9));
    let group = [GROUP_SLOTS - 1, GROUP_SLOTS, GROUP_SLOTS + 1].map(|len| (len, 30));
    for (len, stride) in [(2, 1)].into_iter().chain(chunk).chain(group) {
        let model: Vec<u32> = (0..).take(len).collect();
        let shared = Handle { log: model.iter().copied().collect(), model };
        let some: Vec<&[Op; 3]> = all.iter().step_by(stride).collect();
        for (number, one) in some.iter().enumerate() {
            // The two handles are alike, so a pair of programs is tried once.
            for two in &some[number..] {
                let world = World { handles: vec![shared.clone(), shared.clone()], kept: Vec::new(), next: 1_000 };
                states += world.explore([*one, *two]);
            }
        }
    }
    // 20 orders of six steps are 69 states on the way, for every pair of programs.
    assert_eq!(states, 69 * (64 * 65 / 2 + 3 * (8 * 9 / 2) + 3 * (3 * 4 / 2)));
}
