/**
 * One suite per storage port of the core, to be run against every adapter of it. `@agentos/x402/contract-tests` has that
 * of the `GasTransactionStore`.
 *
 * An adapter's test only passes a harness to the suites:
 *
 *     // packages/<adapter>/test/….test.ts
 *     import { StorageContract } from "@agentos/core/contract-tests"
 *     StorageContract({ name: "PGlite", layer, capabilities })
 *
 * - `layer` provides every storage port of the core, `Transactor`, `EventSignal` and `StoreClock`. It has no requirements
 *   and is built once for all suites. `EventStoreContract(harness)` and the others run a single suite, and need
 *   `TenantStore`, `Transactor`, `StoreClock` and the ports in their types. The layer is built with
 *   `EventPolicy` set to `TEST_EVENT_POLICY`, which its event store must use.
 * - Tests run with live services, not Effect's test services. A harness whose stores follow Effect's Clock
 *   (memory) provides the TestClock in its own layer; the others run in real time, and only
 *   `StoreClock.advance` makes a lease expire. No test sleeps, and none takes more than a few seconds, so
 *   leases, which last at least 10 s, never expire by themselves.
 * - `StoreClock.advance` moves the one clock that the stores use for all times: createdAt of events and
 *   `updatedAt` of operations as well as leases and expiry. It can also move back.
 * - `capabilities` names each feature that the adapter lacks, and why: tests that need it are skipped with the
 *   reason in their name.
 *
 * Every test makes its own tenants, ids, local parts, phone numbers and assets. So suites can
 * share a database with each other and with other data, with five exceptions, which all tenants share: the
 * queue of inbound mail, the queue of open operations, the calls to be polled, the ending of old events, and the stopped
 * sales, of which the SalesStopStore suite removes all.
 * While the InboundMailStore suite runs, nothing else may add to the first queue or take from it, including the
 * MailboxStore suite in another process. While the OperationStore suite runs, nothing else may claim or advance
 * operations. While the CallStore suite runs, nothing else may add or poll calls. The EventStore suite expires
 * and deletes all events that are old on its clock.
 *
 * Rows refer to each other only as the ports require: an event, an operation, a reservation, a mailbox or a
 * number to a stored tenant, a call to a stored number, a message to a mailbox and (if it names one) to an
 * inbound mail that was added. Nothing else must be stored first; for example, a reservation's operationId is
 * any id. A reference to a tenant that is not stored is a defect.
 */
export * from "./Contract.ts"
export * from "./email/AttachmentStoreContract.ts"
export * from "./email/MessageRetryStoreContract.ts"
export * from "./email/InboundMailStoreContract.ts"
export * from "./email/MailboxStoreContract.ts"
export * from "./email/MessageStoreContract.ts"
export * from "./events/EventStoreContract.ts"
export * from "./events/TestEventPolicy.ts"
export * from "./events/WebhookStoreContract.ts"
export * from "./jobs/JobStoreContract.ts"
export * from "./kernel/TransactorContract.ts"
export * from "./limits/RateLimitStoreContract.ts"
export * from "./operator/AuditStoreContract.ts"
export * from "./operator/IncidentStoreContract.ts"
export * from "./operator/OperatorStoreContract.ts"
export * from "./operator/TenantErasureStoreContract.ts"
export * from "./payment/ManualRefundStoreContract.ts"
export * from "./payment/OperationStoreContract.ts"
export * from "./payment/SalesStopStoreContract.ts"
export * from "./tenancy/RetentionStoreContract.ts"
export * from "./phone/AgentSessionStoreContract.ts"
export * from "./phone/CallStoreContract.ts"
export * from "./phone/PhoneNumberStoreContract.ts"
export * from "./StorageContract.ts"
export * from "./StoreClock.ts"
export * from "./tenancy/TenantStoreContract.ts"
/** Not suites: helpers for suites of ports outside the core. */
export * from "./AwkwardText.ts"
export * as Fresh from "./Fresh.ts"
export * from "./kernel/UndoneTests.ts"
export * from "./Overlap.ts"
export * from "./Refused.ts"
/** Not a suite: operations for tests of stores. */
export * as OperationSample from "./payment/OperationSample.ts"
/** Not a suite: a chain and a facilitator for tests of code that uses `PaymentRail`. */
export * as ScriptedRail from "./payment/ScriptedRail.ts"
