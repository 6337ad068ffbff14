import { expect, it } from "vitest"
import { Agent, freshName, type Reply } from "../support/Agent.ts"
import { Chain } from "../support/Chain.ts"
import { startSandbox } from "../support/Sandbox.ts"

const COPIES = 20
const PATIENCE_MILLIS = 60_000

/** Repeats a request, over refused connections too, until it is no longer pending. */
const finished = async (attempt: () => Promise<Reply>): Promise<Reply> => {
  const deadline = Date.now() + PATIENCE_MILLIS
  for (;;) {
    const reply = await attempt().catch(() => undefined)
    if (reply !== undefined && !reply.body.error?.retryable) return reply
    if (Date.now() > deadline) throw new Error(`still not finished: ${reply?.text}`)
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
}

it.each([100, 500])("a server killed %s ms into paid requests charges and delivers each once", async (millis) => {
  const sandbox = await startSandbox()
  try {
    const { chain, processes, wallets } = await sandbox.describe()
    const description = await sandbox.describe()
    const agent = new Agent(description, wallets[0]!.privateKey)
    const requests = await Promise.all(
      Array.from({ length: COPIES }, async (_, index) => {
        const request = { path: "/api/v1/email/mailboxes", body: { localPart: freshName() } }
        return { request, signature: await agent.payment(request), key: `key-${index}` }
      })
    )
    const balance = () => new Chain(description).balanceOf(chain.payTo)
    const before = await balance()
    const first = Promise.allSettled(
      requests.map(({ key, request, signature }) => agent.replay(request, signature, key))
    )
    await new Promise((resolve) => setTimeout(resolve, millis))
    process.kill(processes.server, "SIGKILL")
    const answered = await first
    const replies = await Promise.all(
      requests.map(({ key, request, signature }) => finished(() => agent.replay(request, signature, key)))
    )
    expect(replies.map(({ status }) => status)).toEqual(requests.map(() => 201))
    expect((await balance()) - before).toBe(BigInt(COPIES) * 250_000n)
    answered.forEach((early, index) => {
      if (early.status === "fulfilled" && early.value.status === 201)
        expect(early.value.text).toBe(replies[index]!.text)
    })
    agent.token = (
      replies[0]!.body.data as unknown as { readonly authentication: { readonly accessToken: string } }
    ).authentication.accessToken
    const owned = await agent.send({ path: "/api/v1/email/mailboxes/query" })
    expect(owned.body.data["items"]).toHaveLength(COPIES)
  } finally {
    await sandbox.stop()
  }
})
