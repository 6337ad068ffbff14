import { EventPolicy, type TenantStore, type Transactor } from "@agentos/core"
import { describe, layer, type Vitest } from "@effect/vitest"
import { Layer, type Scope } from "effect"
import { TEST_EVENT_POLICY } from "./events/TestEventPolicy.ts"
import type { StoreClock } from "./StoreClock.ts"

/** That an adapter can't do something, and why: the reason stands in the report beside the tests that it skips. */
export interface Unsupported {
  readonly unsupported: string
}

/** What an adapter can do beyond the ports. */
export interface StoreCapabilities {
  /**
   * Whether two transactions can be open at one time, so that one can go on while the other waits.
   * Races are run on every adapter; only what would never end without this is skipped.
   */
  readonly concurrentTransactions: true | Unsupported
  /** How often each property is tried; 30 when left out. */
  readonly propertyRuns?: number
}

/** What every suite needs beside the ports that it is about. */
export type HarnessServices = TenantStore | Transactor | StoreClock

/** An adapter, made ready for the suites. See the docstring of this package. */
export interface StoreHarness<Ports> {
  /** The adapter's name in the test report: `memory`, `PGlite`, `PostgreSQL`. */
  readonly name: string
  readonly layer: Layer.Layer<Ports | HarnessServices, unknown>
  readonly capabilities: StoreCapabilities
}

/** How a suite registers its tests. */
export interface ContractTester<Ports> {
  readonly effect: Vitest.Tester<Ports | HarnessServices | Scope.Scope>
}

/** Registers tests on a tester whose layer is built already. */
export type ContractTests<Ports> = (it: ContractTester<Ports>, capabilities: StoreCapabilities) => void

/** One suite: call it with a harness and it builds the harness's layer and registers all its tests. */
export interface Contract<Ports> {
  (harness: StoreHarness<Ports>): void
  /** The tests alone, in a block of the port's name, for a layer that is built already and shared with other suites. */
  readonly register: ContractTests<Ports>
}

/** Runs `tests` with the layer of a harness, which keeps to the suites' own event policy. */
export const withHarness = <Ports>(harness: StoreHarness<Ports>, tests: ContractTests<Ports>): void =>
  layer(Layer.provide(harness.layer, Layer.succeed(EventPolicy, TEST_EVENT_POLICY)), { excludeTestServices: true })(
    `on ${harness.name}`,
    (it) => tests(it, harness.capabilities)
  )

/** A suite of the port of this name. */
export const defineContract = <Ports>(port: string, tests: ContractTests<Ports>): Contract<Ports> => {
  const register: ContractTests<Ports> = (it, capabilities) => {
    describe(port, () => tests(it, capabilities))
  }
  return Object.assign((harness: StoreHarness<Ports>) => withHarness(harness, register), { register })
}

/** How often a property is tried on this adapter. */
export const propertyOptions = (capabilities: StoreCapabilities) => ({
  arbitrary: { runs: capabilities.propertyRuns ?? 30, size: 80 },
  timeout: 120_000
})

/** The name of a test that needs a capability, with the reason where it is skipped, and whether it is. */
export const needing = (capability: true | Unsupported, name: string) =>
  capability === true
    ? { name, missing: false }
    : { name: `${name} (not here: ${capability.unsupported})`, missing: true }
