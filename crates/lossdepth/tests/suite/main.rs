//! All tests of the library's public face, in one program: it is linked once.

mod archive;
mod auto;
mod baseline;
mod brute_force;
mod common;
mod conformal;
mod correlation;
mod degenerate;
mod evaluation;
mod explain;
mod forest;
mod golden;
mod gp;
mod halfspace;
mod halfspace_golden;
mod klr;
mod layers;
mod losses;
mod mlp;
mod preset;
mod properties;
mod refusals;
mod scaling;
mod statistics;
mod svm;
mod svm_golden;
