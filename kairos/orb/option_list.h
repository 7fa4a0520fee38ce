// SPDX-License-Identifier: Apache-2.0
//
// Every -ORB… option, said once. This list is included with several meanings, each of which defines
// the three macros first: by options.cpp, which understands options, by the tool (`kairos options`,
// and docs/options.md, which it writes), and by tests. Only the tool has the texts in its memory.
//
//   KAIROS_OPTION_TOPIC(title, note)
//       Begins a topic: its options follow. The note is for what concerns several of them.
//   KAIROS_OPTION(name, needs, pages, meaning, kind)
//       `needs` is the property of Architecture without which the option contradicts
//       -ORBConcurrency, or nullptr; `pages` are those of docs/ that say more; `meaning` is plain
//       English that stands by itself, and says what the option does when it is not given where its
//       default does not; `kind`, of option_values.h, has the member of Options, which has the
//       default.
//   KAIROS_OPTION_SPELLING(name, option)
//       Another name of an option.

KAIROS_OPTION_TOPIC("Where a server listens, and what it publishes",
                    "Nothing asks for a name by reverse DNS. A host name in a reference is looked "
                    "up when a connection to it is made, never during a call on one.")
KAIROS_OPTION(
    "-ORBListenEndpoints", nullptr, "addresses transports bidirectional",
    "Where a server listens: `iiop://[host][:port][/hostname_in_ior=name]`, "
    "`uiop://[path]` (a Unix socket, for clients on this host), `shmiop://[path]` (shared "
    "memory, for clients on this host), or the URL of a transport that the program has "
    "added. Without a host a server listens on every IPv4 interface, without a port at "
    "one that the system chooses. May be given several times. `none`: nowhere, so that the "
    "ORB's objects can be called over its own connections only.",
    ListenEndpoints)
KAIROS_OPTION_SPELLING("-ORBEndpoint", "-ORBListenEndpoints")
KAIROS_OPTION("-ORBPublish", nullptr, "addresses",
              "Which addresses references say, in the order in which clients are to try them: "
              "`addresses` (those that others can reach), `ipv4`, `ipv6`, `interface=NAME`, "
              "`hostname`, `host=NAME`, each perhaps with `:port`.",
              Publish)
KAIROS_OPTION("-ORBPublishAs", nullptr, "addresses",
              "Whether several addresses are alternates in one profile of a reference, or in one "
              "profile each.",
              Choice<&Options::publish_as, publish_as_names>)
KAIROS_OPTION("-ORBPlainKeys", nullptr, "poa",
              "Whether references to persistent objects have keys that people can read and write: "
              "`corbaloc::host/Factory/Robots/7`.",
              Flag<&Options::plain_keys>)
KAIROS_OPTION("-ORBBidirectional", nullptr, "bidirectional",
              "Which addresses a client may say that its objects can be called at over its own "
              "connection, where the object adapter it calls permits that: only those that the "
              "connection comes from, or any.",
              Choice<&Options::bidirectional, bidirectional_names>)
KAIROS_OPTION("-ORBGIOPVersion", nullptr, "interop",
              "The version of GIOP that references say, and the highest that is used.",
              Choice<&Options::giop_version, giop_version_names>)

KAIROS_OPTION_TOPIC("Who serves requests", "")
KAIROS_OPTION("-ORBConcurrency", nullptr, "architectures",
              "How a server's requests get threads. A server that has thread pools of Real-Time "
              "CORBA and is not told has `worker-pool`, or `reactor-per-priority` if they have "
              "lanes.",
              Concurrency)
KAIROS_OPTION("-ORBThreads", &Architecture::has_threads, "architectures",
              "How many threads serve at the same time, for each pool; where threads belong to "
              "requests or objects, how many there may be.",
              Number<&Options::threads, count>)
KAIROS_OPTION("-ORBQueue", &Architecture::has_queue, "architectures",
              "How many requests may wait for a pool, or for an object's thread. With "
              "`-ORBQueueFull block` one more may wait of each connection that has none there.",
              Number<&Options::requests_queued_max, count>)
KAIROS_OPTION("-ORBQueueFull", &Architecture::is_bounded, "architectures",
              "What becomes of a request for which the queue has no place. With `block` it waits "
              "and its connection is not read meanwhile; with `refuse` its caller gets `TRANSIENT` "
              "at once.",
              Choice<&Options::when_queue_full, when_queue_full_names>)
KAIROS_OPTION("-ORBPools", &Architecture::has_pools, "architectures",
              "How many pools of threads the filters of `filter-chain` choose among.",
              Number<&Options::pools, count>)
KAIROS_OPTION("-ORBDemux", nullptr, "poa demultiplexing",
              "How object adapters find the objects of requests, unless their policies say "
              "otherwise.",
              Choice<&Options::demultiplexing, demultiplexing_names>)
KAIROS_OPTION("-ORBHoldLimit", nullptr, "poa",
              "How many requests may wait for their POAManagers at the same time. The next one is "
              "refused with `TRANSIENT`.",
              Number<&Options::held_requests_max, any_number>)
KAIROS_OPTION("-ORBMaxConnections", nullptr, "robustness", "How many connections a server accepts.",
              Number<&Options::connections_max, any_number>)
KAIROS_OPTION("-ORBMaxPeerConnections", nullptr, "robustness security",
              "How many of these one host, one IPv6 network of 64 bits (all of a LAN), or one user "
              "of this host may have. 0: three quarters of them if they may be 1,000 or more, else "
              "all.",
              Number<&Options::peer_connections_max, any_number>)
KAIROS_OPTION("-ORBMaxPeerRequests", &Architecture::is_bounded, "robustness security",
              "How many requests of one peer, as above, may wait for a thread at the same time. "
              "More of them are left in their connections, and these unread, or refused "
              "(`-ORBQueueFull`), while those of others are served. 0: no limit.",
              Number<&Options::peer_requests_max, any_number>)

KAIROS_OPTION_TOPIC("How clients connect and call", "")
KAIROS_OPTION("-ORBConnection", nullptr, "architectures",
              "How a client's threads share connections: each thread has its own "
              "(`non-multiplexed`), or there is one for all, which the threads that wait for "
              "replies read in turn (`leader-followers`) or a thread of the ORB reads and writes "
              "(`active`).",
              Choice<&CallPolicies::connection, connection_names>)
KAIROS_OPTION("-ORBMaxClientConnections", nullptr, "architectures",
              "How many connections to servers a client has. For one more, the idle one that was "
              "used least recently is closed.",
              ClientConnections)
KAIROS_OPTION("-ORBClientIdle", nullptr, "architectures",
              "For how long a client may leave a connection unused before it is closed. 0: for "
              "ever.",
              ClientIdle)
KAIROS_OPTION("-ORBClientUnused", nullptr, "architectures",
              "For how long a client keeps connections to a server after the last reference to it "
              "is gone. 0: for ever.",
              Number<&Options::client_unused, milliseconds>)
KAIROS_OPTION("-ORBBindEarly", nullptr, "architectures",
              "Whether references that a program makes of URLs, or of the names of initial "
              "references, are connected at once.",
              Flag<&Options::binds_early>)
KAIROS_OPTION("-ORBPreferLocal", nullptr, "transports",
              "Whether clients go by Unix sockets and shared memory to servers on their own host "
              "that have these.",
              Flag<&Options::prefer_local>)
KAIROS_OPTION("-ORBCollocation", nullptr, "poa",
              "How calls reach objects of their own process and ORB: through the object adapter, "
              "directly once it has found the servant, or as calls from elsewhere (`no`).",
              Choice<&Options::collocation, collocation_names>)
KAIROS_OPTION("-ORBClientTimeout", nullptr, "timeouts",
              "How long a call may take, unless a policy says otherwise. 0: no limit.",
              Number<&CallPolicies::round_trip_max, milliseconds>)
KAIROS_OPTION(
    "-ORBAsynchronousCalls", nullptr, "asynchronous",
    "How many asynchronous calls may be under way at the same time, with those whose ends "
    "wait to be heard of; and how many requests may wait for servants that answer later. The next "
    "one is refused with `TRANSIENT`.",
    Number<&Options::asynchronous_calls_max, any_number>)
KAIROS_OPTION("-ORBConnectTimeout", nullptr, "timeouts",
              "How long a client may take to make a connection, unless a policy says otherwise. 0: "
              "no limit.",
              Number<&CallPolicies::connect_max, milliseconds>)
KAIROS_OPTION("-ORBInitRef", nullptr, "naming",
              "What `resolve_initial_references(name)` gives. May be given several times, for "
              "other names.",
              InitialReferences)
KAIROS_OPTION("-ORBDefaultInitRef", nullptr, "naming",
              "The beginning of the URL of every initial reference that has no `-ORBInitRef`: "
              "`corbaloc::host` or `corbaname::host#context`.",
              DefaultInitialReference)

KAIROS_OPTION_TOPIC("Sockets and messages", "")
KAIROS_OPTION("-ORBMaxMessageSize", nullptr, "robustness",
              "The size of the largest message that is accepted.",
              Number<&Options::message_size_max, message_size>)
KAIROS_OPTION("-ORBMemory", nullptr, "robustness",
              "How much a server keeps for all peers together: messages in part, requests that "
              "wait, replies that were not taken. Not given, it is 32 MiB more than the largest "
              "message, and 288 MiB at least.",
              Memory)
KAIROS_OPTION("-ORBReceiveTimeout", nullptr, "robustness",
              "How long a server waits for a peer that has begun a message to go on with it, that "
              "is to take a reply, or that is to agree first how bytes travel, as by shared "
              "memory. 0: for ever.",
              Number<&Options::receive_timeout, milliseconds>)
KAIROS_OPTION("-ORBFragmentSize", nullptr, "interop",
              "The size from which on messages of GIOP 1.2 are sent in fragments. 0: never.",
              Number<&Options::fragment_size, fragment_size>)
KAIROS_OPTION("-ORBOnewayQueue", nullptr, "timeouts",
              "How much is kept of oneways with `SYNC_NONE` that a server does not take, for each "
              "connection. The next one is refused with `TRANSIENT`.",
              Number<&Options::oneways_unsent_max, any_size>)
KAIROS_OPTION("-ORBNoDelay", nullptr, "",
              "Whether TCP sends small messages at once (`TCP_NODELAY`).",
              Flag<&net::SocketOptions::no_delay>)
KAIROS_OPTION("-ORBSendQueue", nullptr, "",
              "The size of a socket's queue for what it sends. 0: the system's, which grows.",
              Number<&net::SocketOptions::send_queue_bytes, queue_size>)
KAIROS_OPTION("-ORBReceiveQueue", nullptr, "transports",
              "The size of a socket's queue for what it receives. 0: the system's, which grows. A "
              "connection with a size of its own keeps TCP's segments to half of it.",
              Number<&net::SocketOptions::receive_queue_bytes, queue_size>)
KAIROS_OPTION("-ORBSpin", nullptr, "transports",
              "How long a thread that waits for a peer looks for itself before it sleeps, in "
              "shared memory and at sockets that one thread reads; 0: not at all. `auto`: up to "
              "50 µs, where that has paid of late.",
              SpinTime)
KAIROS_OPTION("-ORBLoanMemory", nullptr, "transports",
              "How much memory a connection by `shmiop://` may have for large blocks, which are "
              "written there once: of both directions together, beside its rings. A server takes "
              "no more than its own option says, and then that connection has none. 0: none.",
              Number<&net::SocketOptions::loan_memory, loan_size>)
KAIROS_OPTION("-ORBRoomSpin", nullptr, "transports",
              "How long a call stays awake while the server does not take what it sends, before "
              "it sleeps. 0: not at all.",
              Number<&Options::room_spin, brief_time>)
KAIROS_OPTION("-ORBStreamPause", &Architecture::pauses_in_streams, "transports",
              "How long a server's thread lets a stream of oneways gather when it has read all "
              "there was. 0: not at all.",
              Number<&Options::stream_pause, brief_time>)
KAIROS_OPTION("-ORBBusyPoll", nullptr, "realtime",
              "How long reads look at the network interface themselves before they wait "
              "(`SO_BUSY_POLL`). 0: as the system says.",
              Number<&net::SocketOptions::busy_poll_us, poll_time>)

KAIROS_OPTION_TOPIC("Real time", "")
KAIROS_OPTION("-ORBLanes", &Architecture::has_lanes, "architectures realtime",
              "Which priorities of CORBA have listeners and threads of their own, in ascending "
              "order; how many threads each has (one unless said, `each`: one for every "
              "connection); and the only CPU that they run on. Not given, there are two: ordinary "
              "threads, and all of real time.",
              Lanes)
KAIROS_OPTION("-ORBRealTime", nullptr, "realtime",
              "Whether an ORB goes on, with a line in the log, where the process may not have its "
              "priorities or locked memory (`wanted`), or that is an error (`required`).",
              Choice<&Options::real_time_required, wanted_or_required>)
KAIROS_OPTION("-ORBPriorityMapping", nullptr, "realtime",
              "What CORBA's priorities are to the system: spread over its 0 to 99 (`linear`), or "
              "those themselves (`direct`).",
              Choice<&Options::priority_mapping, mapping_names>)
KAIROS_OPTION("-ORBSchedulingPolicy", nullptr, "realtime",
              "Whether threads of real time are of `SCHED_FIFO` or of `SCHED_RR`.",
              Choice<&Options::scheduling_policy, scheduling_policy_names>)
KAIROS_OPTION("-ORBDispatching", &Architecture::has_order, "scheduling",
              "Which of the requests that wait for a thread goes first: the one that came first "
              "(`fifo`), or that of the shortest period (`rms`), earliest deadline (`edf`), "
              "smallest laxity (`llf`), or highest criticality and then smallest laxity (`muf`).",
              Choice<&Options::dispatching, dispatching_names>)
KAIROS_OPTION("-ORBLateCalls", nullptr, "scheduling",
              "What the caller gets of an operation that ends after the deadline of its IDL: its "
              "results, or the exception `TIMEOUT`. The log reports it in either case.",
              Choice<&Options::late_calls, when_late_names>)
KAIROS_OPTION("-ORBNetworkPriority", nullptr, "realtime",
              "Whether packets say the priority of their connection (DSCP, `SO_PRIORITY`).",
              Flag<&Options::network_priority>)
KAIROS_OPTION("-ORBLockMemory", nullptr, "realtime",
              "Whether all memory of the process stays in RAM.", Flag<&Options::lock_memory>)
KAIROS_OPTION("-ORBStackSize", nullptr, "realtime",
              "The size of the stacks of the ORB's threads. 0: the system's default.",
              Number<&Options::stack_bytes, stack_size>)

KAIROS_OPTION_TOPIC("TLS",
                    "For programs that are linked with `libkairos-tls`. Files are in PEM form.")
KAIROS_OPTION("-ORBTlsClient", nullptr, "tls",
              "Whether calls go by TLS: where references offer it, and then in no other way from "
              "host to host (`preferred`); always, or else they end with `NO_PERMISSION` "
              "(`required`); or never.",
              Choice<&TlsOptions::client, protection_names>)
KAIROS_OPTION("-ORBTlsCertificate", nullptr, "tls",
              "The certificate that servers show, and clients to servers that ask for one: the "
              "file has that of the process first, then those of who signed it.",
              FileName<&TlsOptions::certificate>)
KAIROS_OPTION("-ORBTlsKey", nullptr, "tls",
              "The private key of the certificate, unless that is in the same file.",
              FileName<&TlsOptions::key>)
KAIROS_OPTION("-ORBTlsTrust", nullptr, "tls",
              "Whose signatures are believed: certificates in a file, in a folder with OpenSSL's "
              "names for them, or those that the system trusts.",
              TlsTrust)
KAIROS_OPTION("-ORBTlsRevocations", nullptr, "tls",
              "Lists of certificates that were taken back: the file has one of each authority that "
              "has signed for a peer, up to the one that `-ORBTlsTrust` names. Peers whose "
              "certificates are listed are refused, and those of authorities without a list that "
              "is in force.",
              FileName<&TlsOptions::revocations>)
KAIROS_OPTION("-ORBTlsStaple", nullptr, "tls",
              "What the authority says of the certificate (an answer of OCSP, in DER form), which "
              "servers show to clients that ask for it, as long as it is in force.",
              FileName<&TlsOptions::staple>)
KAIROS_OPTION("-ORBTlsVerifyServer", nullptr, "tls",
              "What a client wants to know before it sends anything: that somebody trusted has "
              "signed for the server, and for the name or address that the reference has of it "
              "(`name`); the former only (`chain`); or nothing.",
              Choice<&TlsOptions::check_server, server_check_names>)
KAIROS_OPTION("-ORBTlsVerifyStaple", nullptr, "tls",
              "Whether a client wants a server to show what its authority says of its certificate "
              "(OCSP): with `optional` it may show nothing, but what it shows has to be good. "
              "Sessions are not resumed then.",
              Choice<&TlsOptions::check_staple, client_check_names>)
KAIROS_OPTION("-ORBTlsVerifyClient", nullptr, "tls",
              "Whether a server wants clients that connect by TLS to show a certificate that "
              "somebody has signed whom `-ORBTlsTrust` names, which has to be given then, and not "
              "as `system`. With `optional` they may show none.",
              Choice<&TlsOptions::check_client, client_check_names>)
KAIROS_OPTION("-ORBTlsHandshakes", nullptr, "tls security",
              "How many handshakes a second one host, or IPv6 network of 64 bits, may begin with a "
              "server. 0: any number.",
              Number<&TlsOptions::handshakes_max, any_number>)

KAIROS_OPTION_TOPIC("Groups of objects", "For programs that are linked with `libkairos-datagrams`.")
KAIROS_OPTION("-ORBMulticast", nullptr, "multicast",
              "How packets go to groups of objects, and from where they are taken: "
              "`interface=NAME` instead of the one that the system's routes say; `ttl=N`, how many "
              "networks they may pass, 1 by default; `loopback=0`, so that nobody on this host "
              "gets them; `packet=N`, the most octets of a packet, 1452 by default.",
              Multicast)

KAIROS_OPTION_TOPIC("Who may call what", "For programs that are linked with `libkairos-access`.")
KAIROS_OPTION("-ORBAccess", nullptr, "access",
              "The rules by which requests are allowed or denied: who may call which operations of "
              "which objects. Not given, whoever can connect may call all of them. Rules that the "
              "file gets later are in force within seconds.",
              FileName<&Options::access>)
KAIROS_OPTION("-ORBCsi", nullptr, "csiv2",
              "Users, passwords and who speaks for whom (CSIv2). For programs that are linked with "
              "`libkairos-csiv2`.",
              FileName<&Options::csi>)

KAIROS_OPTION_TOPIC("Text and values", "")
KAIROS_OPTION("-ORBNativeCharCodeSet", nullptr, "mapping",
              "What the program's `char` and `string` are in: ISO-8859-1 to -10 and -15, UTF-8, "
              "ISO-646, Windows-1250 to -1252, or the OSF's number of one.",
              NativeCodeSet)
KAIROS_OPTION_SPELLING("-ORBnativeCharCodeSet", "-ORBNativeCharCodeSet") // omniORB's
KAIROS_OPTION("-ORBNativeWCharCodeSet", nullptr, "mapping",
              "What wide characters are best sent in: UTF-16, UCS-4 or UCS-2.", NativeWideCodeSet)
KAIROS_OPTION_SPELLING("-ORBnativeWCharCodeSet", "-ORBNativeWCharCodeSet")
KAIROS_OPTION("-ORBQuirks", nullptr, "interop",
              "What to do otherwise than the specification says, with all peers: `tao-chunks`, "
              "values in TAO's form. Servers need it; clients know TAO by its references.",
              QuirkNames)
KAIROS_OPTION("-ORBExceptionIdInAny", nullptr, "interop",
              "Whether an exception in an Any has its repository id in front, as CORBA wants it. "
              "omniORB before 4.3 does not want it.",
              Flag<&Options::exception_id_in_any>)

KAIROS_OPTION_TOPIC("Looking at what happens", "")
KAIROS_OPTION("-ORBDebug", nullptr, "addresses",
              "What the log has: errors (0), warnings too (1), events too (2), details too (3). "
              "Given, from 1 on a server also says which addresses it publishes, and from 2 on an "
              "ORB says which options are in force.",
              DebugLevel)
KAIROS_OPTION("-ORBCounters", nullptr, "counters",
              "Whether the requests served are counted. If so, the ORB says at its end what the "
              "process did for them.",
              Flag<&Options::counters>)
KAIROS_OPTION("-ORBProfileTypes", nullptr, "marshalling",
              "The file that is to have what code of `kairos-idl --instrument` measured, for "
              "`kairos-idl --profile`.",
              ProfileTypes)
KAIROS_OPTION("-ORBid", nullptr, "", "The ORB's identifier, unless the program gives one.", OrbId)
KAIROS_OPTION("-ORBServerId", nullptr, "interceptors",
              "The name that all ORBs of a server have in common, which interceptors are told.",
              ServerId)
KAIROS_OPTION("-ORBConfigFile", nullptr, "",
              "A file of options, which count where the command line does not say the same "
              "option. May be given once, and on the command line only.",
              ConfigurationFile)

#undef KAIROS_OPTION_TOPIC
#undef KAIROS_OPTION
#undef KAIROS_OPTION_SPELLING
