/**
 * One suite per storage port, to be run against every adapter of it.
 *
 * An adapter's test gives the suites a harness and nothing else:
 *
 *     // packages/<adapter>/test/EventStore….test.ts
 *     import { EventStoreContract } from "@agentos/contract-tests"
 *     EventStoreContract({ name: "PGlite", layer, capabilities })
 *
 * - `layer` provides the port of the suite, `TenantStore` and `Transactor` (each suite makes its
 *   tenants by them) and `StoreClock`; the EventStore suite needs `EventSignal` too, the MailboxStore
 *   and InboundMailStore suites `MailboxStore`, `MessageStore` and `InboundMailStore` together, the
 *   Transactor suite every port. It is built once per suite and needs nothing. It is built with
 *   `EventPolicy` set to `TEST_EVENT_POLICY`: an event store that is made for it must keep to that.
 * - Tests run with live services, not Effect's test services. A harness whose stores follow Effect's
 *   Clock (memory) brings the TestClock in its own layer; the others run in real time, and only
 *   `StoreClock.advance` makes a lease lapse. No test sleeps, and none is longer than a few seconds,
 *   so leases, which last 10 s at least, never lapse by themselves.
 * - `StoreClock.advance` moves the one clock that everything in the stores runs on: createdAt of
 *   events and `updatedAt` of operations as well as leases and expiry. It also moves back.
 * - `capabilities` says what the adapter can't do, and why: tests that need it are skipped with the
 *   reason in their name.
 *
 * Every test makes tenants, ids, local parts and assets of its own, so suites share a database with
 * each other and with what else is in it, one exception aside: the queue of inbound mail is one for
 * all, so no two runs of the InboundMailStore suite may share a database at the same time.
 *
 * Rows refer to each other only as the ports say: an event, an operation, a reservation or a mailbox
 * to a stored tenant, a message to a mailbox and (where it names one) to an inbound mail that was
 * added. Nothing else is stored beforehand; a reservation's operationId, say, is just an id.
 */
export * from "./Contract.ts"
export * from "./events/EventStoreContract.ts"
export * from "./events/TestEventPolicy.ts"
export * from "./payment/OperationStoreContract.ts"
export * from "./StoreClock.ts"
