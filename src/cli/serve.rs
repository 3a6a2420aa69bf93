//! `sundown serve`: the webhook.
