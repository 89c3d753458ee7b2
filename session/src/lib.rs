#![doc = include_str!("../README.md")]

pub mod rollout;
mod error;

pub use self::error::Error;
