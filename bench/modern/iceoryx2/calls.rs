// SPDX-License-Identifier: Apache-2.0
//
// Calls by iceoryx2, for bench/modern/iceoryx2_peer.cpp: its request-response pattern with payloads
// that are octets, written once into shared memory and read where they lie. Who waits either sleeps
// until an event of iceoryx2's tells it to look, or looks again and again.
use iceoryx2::prelude::*;
use std::collections::HashMap;
use std::error::Error;
use std::ffi::{CStr, c_char, c_void};
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

type Answer<T> = Result<T, Box<dyn Error>>;
type Calls = iceoryx2::service::port_factory::request_response::PortFactory<
    ipc::Service,
    [u8],
    Head,
    [u8],
    (),
>;
type Client = iceoryx2::port::client::Client<ipc::Service, [u8], Head, [u8], ()>;
type Listener = iceoryx2::port::listener::Listener<ipc::Service>;
type Notifier = iceoryx2::port::notifier::Notifier<ipc::Service>;
type Looking = Node<ipc::Service>;

/// Structs of eight octets and more are looked at in the payload itself.
const ALIGNMENT: usize = 8;
const CLIENTS_MAX: usize = 64;
/// A thread that looks lets others have the processor after so many looks, or two that wait for
/// each other on one processor would wait for the end of a time slice.
const LOOKS: u32 = 200;
/// How long a server sleeps at most before it looks whether it is to end.
const NAP: Duration = Duration::from_millis(100);

/// What stands before a request: what is asked, and by which client.
#[derive(Debug, Clone, Copy, Default, ZeroCopySend)]
#[repr(C)]
pub struct Head {
    client: u64,
    operation: u64,
}

fn calls_of(node: &Looking, name: &str) -> Answer<Calls> {
    Ok(node
        .service_builder(&name.try_into()?)
        .request_response::<[u8], [u8]>()
        .request_user_header::<Head>()
        .request_payload_alignment(Alignment::new(ALIGNMENT).ok_or("alignment")?)
        .response_payload_alignment(Alignment::new(ALIGNMENT).ok_or("alignment")?)
        .max_clients(CLIENTS_MAX)
        .max_servers(1)
        .max_nodes(CLIENTS_MAX + 1)
        .open_or_create()?)
}

/// Events that tell the server (no client) or a client to look.
fn wake_up_name(name: &str, client: Option<u64>) -> String {
    match client {
        Some(number) => format!("{name}/wake/{number}"),
        None => format!("{name}/wake"),
    }
}

fn listener_of(node: &Looking, name: &str) -> Answer<Listener> {
    let events = node
        .service_builder(&name.try_into()?)
        .event()
        .max_notifiers(CLIENTS_MAX)
        .max_nodes(CLIENTS_MAX + 1)
        .open_or_create()?;
    Ok(events.listener_builder().create()?)
}

fn notifier_of(node: &Looking, name: &str) -> Answer<Notifier> {
    let events = node.service_builder(&name.try_into()?).event().open()?;
    Ok(events.notifier_builder().create()?)
}

/// Looks again, after others had the processor now and then.
struct Looks(u32);

impl Looks {
    fn pause(&mut self) {
        self.0 += 1;
        if self.0 < LOOKS {
            std::hint::spin_loop();
        } else {
            self.0 = 0;
            std::thread::yield_now();
        }
    }
}

/// What a server does: given the octets of a request, it says which octets are the answer, which
/// are there until it is called again.
type Serve =
    extern "C" fn(operation: u64, octets: *const u8, count: usize, answer: *mut *const u8) -> usize;

fn serve(
    name: &str,
    sleeps: bool,
    stop: &AtomicBool,
    ready: extern "C" fn(),
    answer_to: Serve,
) -> Answer<()> {
    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let calls = calls_of(&node, name)?;
    let server = calls
        .server_builder()
        .initial_max_slice_len(ALIGNMENT)
        .allocation_strategy(AllocationStrategy::PowerOfTwo)
        .create()?;
    let listener = listener_of(&node, &wake_up_name(name, None))?;
    let mut sleepers: HashMap<u64, Notifier> = HashMap::new();
    let mut looks = Looks(0);
    ready();
    while !stop.load(Ordering::Relaxed) {
        let Some(request) = server.receive()? else {
            if sleeps {
                listener.timed_wait(|_| {}, NAP)?;
            } else {
                looks.pause();
            }
            continue;
        };
        let head = *request.user_header();
        let octets = request.payload();
        let mut first: *const u8 = std::ptr::null();
        let count = answer_to(head.operation, octets.as_ptr(), octets.len(), &mut first);
        // SAFETY: so many octets are there until it is called again.
        let answer = unsafe { slice::from_raw_parts(first, count) };
        request
            .loan_slice_uninit(count)?
            .write_from_slice(answer)
            .send()?;
        if sleeps {
            if !sleepers.contains_key(&head.client) {
                let notifier = notifier_of(&node, &wake_up_name(name, Some(head.client)))?;
                sleepers.insert(head.client, notifier);
            }
            sleepers[&head.client].notify()?;
        }
    }
    Ok(())
}

/// A client's way to the server, of one thread.
pub struct Caller {
    number: u64,
    sleeping: Option<(Listener, Notifier)>, // of who sleeps: its own, and the server's
    client: Client,
    _calls: Calls,
    _node: Looking,
}

impl Caller {
    fn open(name: &str, number: u64, sleeps: bool) -> Answer<Caller> {
        let node = NodeBuilder::new().create::<ipc::Service>()?;
        let calls = calls_of(&node, name)?;
        let sleeping = if sleeps {
            Some((
                listener_of(&node, &wake_up_name(name, Some(number)))?,
                notifier_of(&node, &wake_up_name(name, None))?,
            ))
        } else {
            None
        };
        let client = calls
            .client_builder()
            .initial_max_slice_len(ALIGNMENT)
            .allocation_strategy(AllocationStrategy::PowerOfTwo)
            .create()?;
        Ok(Caller {
            number,
            sleeping,
            client,
            _calls: calls,
            _node: node,
        })
    }

    fn call(&self, operation: u64, octets: &[u8], got: impl FnOnce(&[u8])) -> Answer<()> {
        let mut request = self.client.loan_slice_uninit(octets.len())?;
        *request.user_header_mut() = Head {
            client: self.number,
            operation,
        };
        let pending = request.write_from_slice(octets).send()?;
        if let Some((_, server)) = &self.sleeping {
            server.notify()?;
        }
        let mut looks = Looks(0);
        loop {
            // Asked first: who has answered, or is gone, has sent all that there will be.
            let is_over = !pending.is_connected();
            if let Some(response) = pending.receive()? {
                got(response.payload());
                return Ok(());
            }
            if is_over {
                return Err("the server is gone".into());
            }
            match &self.sleeping {
                Some((listener, _)) => {
                    listener.blocking_wait(|_| {})?;
                }
                None => looks.pause(),
            }
        }
    }
}

/// SAFETY: the name ends with a zero.
unsafe fn text<'a>(name: *const c_char) -> Answer<&'a str> {
    Ok(unsafe { CStr::from_ptr(name) }.to_str()?)
}

fn said<T>(outcome: Answer<T>) -> Option<T> {
    outcome
        .inspect_err(|failure| eprintln!("iceoryx2: {failure}"))
        .ok()
}

/// Serves until told to stop, having called `ready`; false: something failed, and was said.
#[unsafe(no_mangle)]
pub extern "C" fn iceoryx2_serve(
    name: *const c_char,
    sleeps: bool,
    stop: *const AtomicBool,
    ready: extern "C" fn(),
    answer_to: Serve,
) -> bool {
    set_log_level(LogLevel::Error);
    // SAFETY: the caller keeps both until this returns.
    said(unsafe { text(name).and_then(|name| serve(name, sleeps, &*stop, ready, answer_to)) })
        .is_some()
}

/// Nothing where it failed, which was said; else to be closed, all by one thread.
#[unsafe(no_mangle)]
pub extern "C" fn iceoryx2_open(name: *const c_char, number: u64, sleeps: bool) -> *mut Caller {
    set_log_level(LogLevel::Error);
    // SAFETY: the caller keeps the name until this returns.
    said(unsafe { text(name) }.and_then(|name| Caller::open(name, number, sleeps)))
        .map_or(std::ptr::null_mut(), |caller| {
            Box::into_raw(Box::new(caller))
        })
}

/// Calls `got` with the answer, which is there as long as that runs; false: it failed.
#[unsafe(no_mangle)]
pub extern "C" fn iceoryx2_call(
    caller: *const Caller,
    operation: u64,
    octets: *const u8,
    count: usize,
    got: extern "C" fn(context: *mut c_void, octets: *const u8, count: usize),
    context: *mut c_void,
) -> bool {
    // SAFETY: nobody else uses the caller meanwhile, nor writes to the octets.
    let (caller, octets) = unsafe { (&*caller, slice::from_raw_parts(octets, count)) };
    said(caller.call(operation, octets, |answer| {
        got(context, answer.as_ptr(), answer.len());
    }))
    .is_some()
}

#[unsafe(no_mangle)]
pub extern "C" fn iceoryx2_close(caller: *mut Caller) {
    // SAFETY: it was opened, and not closed before.
    drop(unsafe { Box::from_raw(caller) });
}
