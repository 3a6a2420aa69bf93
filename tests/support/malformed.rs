//! Bodies that are no proper reviews: the right error or decision, never a panic.
