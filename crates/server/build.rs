//! Makes Rust of the messages and services of gRPC, without a compiler of their own being installed.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto");
    let set = protox::compile(["envoy/service/auth/v3/external_auth.proto"], ["proto"])?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo did not say where to write")?);
    // For reflection: whoever asks gets the same description that the code is made of.
    fs::write(out.join("descriptors.bin"), set.encode_to_vec())?;
    // Only tests are clients.
    for (folder, server) in [("server", true), ("client", false)] {
        let folder = out.join(folder);
        fs::create_dir_all(&folder)?;
        tonic_prost_build::configure()
            .build_server(server)
            .build_client(!server)
            .build_transport(false)
            .include_file("all.rs")
            .out_dir(folder)
            .compile_fds(set.clone())?;
    }
    Ok(())
}
