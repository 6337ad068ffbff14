import type { SandboxClient } from "./SandboxNetwork.ts"

/**
 * Mines a block every second, so that time on the chain, and with it finality, goes on while nothing happens. Answers
 * what ends that.
 *
 * (Told to do this itself, by `--block-time`, anvil keeps the states of 1,500 blocks in memory whatever it is told
 * about that: half a gigabyte after an hour, three after five.)
 */
export const startClock = (client: SandboxClient): (() => void) => {
  let mining = false
  const timer = setInterval(() => {
    // A chain that is busy with something longer need not catch up.
    if (mining) return
    mining = true
    client
      .mine({ blocks: 1 })
      // That a chain is gone is noticed elsewhere.
      .catch(() => undefined)
      .finally(() => (mining = false))
  }, 1_000)
  return () => clearInterval(timer)
}
