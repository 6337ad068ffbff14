/**
 * One suite per storage port, to be run against every adapter of it.
 *
 * An adapter's test gives the suites a harness and nothing else:
 *
 *     // packages/<adapter>/test/….test.ts
 *     import { StorageContract } from "@agentos/contract-tests"
 *     StorageContract({ name: "PGlite", layer, capabilities })
 *
 * - `layer` provides every storage port, `Transactor`, `EventSignal` and `StoreClock`. It needs
 *   nothing and is built once for all suites; `EventStoreContract(harness)` and its like run a single
 *   one, and need `TenantStore`, `Transactor`, `StoreClock` and what their types say. It is built with
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
 * Every test makes tenants, ids, local parts, telephone numbers, assets and gas wallets of its own, so suites
 * share a database with each other and with what else is in it, four exceptions aside: the queue of inbound mail,
 * the queue of open operations, the calls that are to be looked at and what becomes of old events are each one for
 * all. While the InboundMailStore suite runs, nothing else may add to the first or take from it, the MailboxStore
 * suite in another process included; while the OperationStore suite runs, nothing else may claim operations or
 * carry them on; while the CallStore suite runs, nothing else may add calls or look at any; and the EventStore suite
 * ends and deletes whatever events are old on its clock.
 *
 * Rows refer to each other only as the ports say: an event, an operation, a reservation, a mailbox or a number
 * to a stored tenant, a call to a stored number, a message to a mailbox and (where it names one) to an inbound mail
 * that was added. Nothing else is stored beforehand; a reservation's operationId, say, is just an id. What
 * refers to a tenant that is not stored is a defect.
 */
export * from "./Contract.ts"
export * from "./email/InboundMailStoreContract.ts"
export * from "./email/MailboxStoreContract.ts"
export * from "./email/MessageStoreContract.ts"
export * from "./events/EventStoreContract.ts"
export * from "./events/TestEventPolicy.ts"
export * from "./jobs/JobStoreContract.ts"
export * from "./kernel/TransactorContract.ts"
export * from "./limits/RateLimitStoreContract.ts"
export * from "./payment/GasTransactionStoreContract.ts"
export * from "./payment/OperationStoreContract.ts"
export * from "./phone/CallStoreContract.ts"
export * from "./phone/PhoneNumberStoreContract.ts"
export * from "./StorageContract.ts"
export * from "./StoreClock.ts"
export * from "./tenancy/TenantStoreContract.ts"
/** Not a suite: a chain and a facilitator for tests of what stands on `PaymentRail`. */
export * as ScriptedRail from "./payment/ScriptedRail.ts"
