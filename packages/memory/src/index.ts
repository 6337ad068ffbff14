/**
 * Every storage port in memory: for tests, and for hosts that need no durable data.
 *
 * `Memory.layer` provides them all on one database of its own, `Memory.stores` on a given one. It has real transactions,
 * which run one after the other, uses Effect's Clock and Random, and reads `EventPolicy` when it is built.
 */
export * as Memory from "./Memory.ts"
export * from "./MemoryDatabase.ts"
