import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TransactionReceipt } from "viem"
import { expect, onTestFinished, vi } from "vitest"
import { type Chain, startChain } from "../../src/chain/Chain.ts"
import { openChainStore } from "../../src/chain/ChainStore.ts"

/** Creates a directory that is removed after the test. */
export const makeDataDir = async (): Promise<string> => {
  const dataDir = await mkdtemp(join(tmpdir(), "agentos-chain-"))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  return dataDir
}

/** Starts a chain that is stopped after the test. */
export const startTestChain = async (dataDir: string, port = 0): Promise<Chain> => {
  const chain = await startChain({ dataDir, port })
  onTestFinished(() => chain.stop())
  return chain
}

export const killChain = async (chain: Chain): Promise<void> => {
  process.kill(chain.pid, "SIGKILL")
  await chain.exited
}

/** Waits until the journal has the block of a receipt: a killed chain may lose the blocks of the last few milliseconds. */
export const untilJournaled = (dataDir: string, receipt: TransactionReceipt | undefined) =>
  vi.waitFor(
    () => {
      const journaled = openChainStore(dataDir).journal().at(-1)?.number ?? 0
      expect(journaled).toBeGreaterThanOrEqual(Number(receipt?.blockNumber))
    },
    { timeout: 60_000, interval: 5 }
  )
