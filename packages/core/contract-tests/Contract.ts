import { EventPolicy, type TenantStore, type Transactor } from "@agentos/core"
import { describe, layer, type Vitest } from "@effect/vitest"
import { Layer, type Scope } from "effect"
import { TEST_EVENT_POLICY } from "./events/TestEventPolicy.ts"
import type { StoreClock } from "./StoreClock.ts"

/** A capability that an adapter lacks. The report shows the reason in the names of the skipped tests. */
export interface Unsupported {
  readonly unsupported: string
}

/** The capabilities of an adapter beyond the ports. */
export interface StoreCapabilities {
  /**
   * True if two transactions can be open at the same time, so that one proceeds while the other waits. Races
   * run on every adapter; only tests that would never end without this capability are skipped.
   */
  readonly concurrentTransactions: true | Unsupported
  /** Number of runs of each property; default 30. */
  readonly propertyRuns?: number
}

/** The services that every suite needs besides its own ports. */
export type HarnessServices = TenantStore | Transactor | StoreClock

/** An adapter, prepared for the suites. See the comment at the top of `index.ts`. */
export interface StoreHarness<Ports> {
  /** The adapter's name in the test report: `memory`, `PGlite`, `PostgreSQL`. */
  readonly name: string
  readonly layer: Layer.Layer<Ports | HarnessServices, unknown>
  readonly capabilities: StoreCapabilities
}

/** Registers the tests of a suite. */
export interface ContractTester<Ports> {
  readonly effect: Vitest.Tester<Ports | HarnessServices | Scope.Scope>
}

/** Registers tests on a tester whose layer is already built. */
export type ContractTests<Ports> = (it: ContractTester<Ports>, capabilities: StoreCapabilities) => void

/** A suite: calling it with a harness builds the harness's layer and registers all tests. */
export interface Contract<Ports> {
  (harness: StoreHarness<Ports>): void
  /**
   * Registers only the tests, in a block with the port's name, on a layer that is already built and shared with
   * other suites.
   */
  readonly register: ContractTests<Ports>
}

/** Runs `tests` with the layer of a harness, under the event policy of the suites. */
export const withHarness = <Ports>(harness: StoreHarness<Ports>, tests: ContractTests<Ports>): void =>
  layer(Layer.provide(harness.layer, Layer.succeed(EventPolicy, TEST_EVENT_POLICY)), { excludeTestServices: true })(
    `on ${harness.name}`,
    (it) => tests(it, harness.capabilities)
  )

/** Defines the suite of the port with this name. */
export const defineContract = <Ports>(port: string, tests: ContractTests<Ports>): Contract<Ports> => {
  const register: ContractTests<Ports> = (it, capabilities) => {
    describe(port, () => tests(it, capabilities))
  }
  return Object.assign((harness: StoreHarness<Ports>) => withHarness(harness, register), { register })
}

/** Returns the options of a property on this adapter: its number of runs, and the seed of the test run. */
export const propertyOptions = (capabilities: StoreCapabilities) => ({
  arbitrary: { runs: capabilities.propertyRuns ?? 30, size: 80, seed: process.env["TEST_SEED"] ?? "1" },
  timeout: 120_000
})

/** Returns the name of a test that needs a capability, and whether it is skipped; the name then contains the reason. */
export const needing = (capability: true | Unsupported, name: string) =>
  capability === true
    ? { name, missing: false }
    : { name: `${name} (not here: ${capability.unsupported})`, missing: true }
