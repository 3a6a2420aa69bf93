//! The webhook's HTTP shell: who may ask what, how long, how much; and how it all ends.
//!
//! [`Server`] (what to serve) becomes [`Bound`] (addresses known, nothing answered yet), which serves until
//! [`Shutdown`] and then drains.

mod accept;
mod admin;
mod app;
mod body;
mod handshake;
mod http;
mod options;
mod refusal;
mod shutdown;
mod startup;

pub use admin::admin;
pub use app::{AppState, app};
pub use options::{Limits, Options};
pub use shutdown::{Shutdown, Trigger};
pub use startup::{BindError, Bound, Ended, Server};
