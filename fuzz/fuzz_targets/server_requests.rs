//! Any bytes as bodies of requests: the server answers each, and never fails itself.

#![no_main]

use std::cell::OnceCell;

use libfuzzer_sys::fuzz_target;
use upheld_server::fuzzing::Target;

thread_local! {
    static TARGET: OnceCell<Target> = const { OnceCell::new() };
}

fuzz_target!(|bytes: &[u8]| {
    TARGET.with(|target| {
        let target = target.get_or_init(|| {
            let target = Target::start().expect("a server");
            for example in Target::examples() {
                assert!(target.check(&example).expect("an answer"), "an example is not understood");
            }
            target
        });
        if let Err(wrong) = target.check(bytes) {
            panic!("{wrong}");
        }
    });
});
