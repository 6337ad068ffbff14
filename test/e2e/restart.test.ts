import { expect, it } from "vitest"
import { Agent, freshName, type Reply } from "../support/Agent.ts"
import { Chain } from "../support/Chain.ts"
import { type Sandbox, startSandbox } from "../support/Sandbox.ts"

/** Milliseconds after the first of a batch of paid requests at which the server is killed, once each. */
const KILLS = [100, 500]
const COPIES = 8
const PATIENCE_MILLIS = 60_000
const POLL_MILLIS = 300

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Repeats a request until its outcome is final, also if connections are refused. */
const finished = async (attempt: () => Promise<Reply>): Promise<Reply> => {
  const deadline = Date.now() + PATIENCE_MILLIS
  for (;;) {
    const reply = await attempt().catch(() => undefined)
    if (reply !== undefined && !reply.body.error?.retryable) return reply
    if (Date.now() > deadline) throw new Error(`timed out: ${reply?.text}`)
    await pause(POLL_MILLIS)
  }
}

/** Kills the server and waits until another one serves. */
const replaceServer = async (sandbox: Sandbox): Promise<void> => {
  const { baseUrl, processes } = await sandbox.describe()
  process.kill(processes.server, "SIGKILL")
  const deadline = Date.now() + PATIENCE_MILLIS
  for (;;) {
    const { server } = (await sandbox.describe()).processes
    if (server !== processes.server && (await fetch(`${baseUrl}/api/v1`).catch(() => undefined))?.ok) return
    if (Date.now() > deadline) throw new Error(`the server was not restarted:\n${sandbox.output()}`)
    await pause(POLL_MILLIS)
  }
}

it("a server killed during paid requests charges and delivers each once", async () => {
  const sandbox = await startSandbox()
  try {
    const description = await sandbox.describe()
    const agent = new Agent(description, description.wallets[0]!.privateKey)
    const prepare = async (key: string) => {
      const request = { path: "/api/v1/email/mailboxes", body: { localPart: freshName() } }
      const signature = await agent.payment(request)
      return () => agent.replay(request, signature, key)
    }
    const balance = () => new Chain(description).balanceOf(description.chain.payTo)
    const before = await balance()
    const early: Array<PromiseSettledResult<Reply>> = []
    const retries: Array<Promise<Reply>> = []
    for (const millis of KILLS) {
      const attempts = await Promise.all(Array.from({ length: COPIES }, (_, index) => prepare(`${millis}-${index}`)))
      const answered = Promise.allSettled(attempts.map((attempt) => attempt()))
      await pause(millis)
      await replaceServer(sandbox)
      early.push(...(await answered))
      // The outcome of some is known only when the leases of the killed server expire, after the next kill.
      retries.push(...attempts.map(finished))
    }
    const replies = await Promise.all(retries)
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 201))
    expect(replies).toHaveLength(KILLS.length * COPIES)
    expect((await balance()) - before).toBe(BigInt(replies.length) * 250_000n)
    early.forEach((outcome, index) => {
      if (outcome.status === "fulfilled" && outcome.value.status === 201)
        expect(outcome.value.text).toBe(replies[index]!.text)
    })
    agent.token = (
      replies[0]!.body.data as unknown as { readonly authentication: { readonly accessToken: string } }
    ).authentication.accessToken
    const owned = await agent.send({ path: "/api/v1/email/mailboxes/query" })
    expect(owned.body.data["items"]).toHaveLength(replies.length)
  } finally {
    await sandbox.stop()
  }
})
