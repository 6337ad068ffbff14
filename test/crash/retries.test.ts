import { expect, it } from "vitest"
import { planProviderFault } from "../faults/fault/ProviderFaults.ts"
import { freshName, type Request } from "../support/Agent.ts"
import { Shop } from "./Shop.ts"

const TIMEOUT_MILLIS = 240_000
/** The lease of the killed attempt, the delay of the next one, and the start of the servers. */
const RETRIED_MILLIS = 60_000

interface MessageFields {
  readonly messageId: string
  readonly messageIdHeader: string
  readonly recipients: ReadonlyArray<{ readonly address: string; readonly status: string }>
}

it(
  "a deferred recipient gets its mail, and the others get it once, whether and when all servers are killed",
  () =>
    Shop.with({ database: "postgres", servers: 2 }, async (shop) => {
      const { testbed } = shop
      const { cluster } = testbed
      const wallet = await shop.newTenant()
      const [mailbox] = await wallet.mailboxes()
      const killAll = async () => {
        await Promise.all(cluster.servers.map((server) => server.kill()))
        await Promise.all(cluster.servers.map((server) => server.start()))
      }
      const copiesTo = async (address: string) => (await testbed.relay.read()).get(address.toLowerCase()) ?? []
      const query = async (messageId: string): Promise<MessageFields> => {
        const { body } = await wallet.on().send({ path: `/api/v1/email/messages/query?messageId=${messageId}` })
        return body.data["message"]! as MessageFields
      }

      for (const killed of ["never", "before the retry", "between answer and record"] as const) {
        const name = freshName()
        const [open, deferred] = [`${name}@else.test`, `${name}@greylist.test`]
        if (killed === "between answer and record") {
          await planProviderFault(cluster, { operation: "send", mode: "hang", only: deferred })
        }
        const request: Request = {
          path: "/api/v1/email/messages/send",
          body: { mailboxId: mailbox!.mailboxId, to: [open, deferred], subject: "s", text: "t" }
        }
        const { body } = await wallet.on().pay(request)
        const { messageId, messageIdHeader, recipients } = body.data["message"]! as MessageFields
        expect(recipients.map(({ status }) => status)).toEqual(["sent", "queued"])
        if (killed === "before the retry") await killAll()
        if (killed === "between answer and record") {
          await expect.poll(() => copiesTo(deferred), { timeout: RETRIED_MILLIS }).toHaveLength(1)
          await killAll()
        }
        await expect
          .poll(async () => (await query(messageId)).recipients.map(({ status }) => status), {
            timeout: RETRIED_MILLIS,
            interval: 500
          })
          .toEqual(["sent", "sent"])
        expect(await copiesTo(open)).toEqual([messageIdHeader])
        // SMTP can't report the acceptance again: the second copy has the same Message-ID, and receivers drop it.
        const copies = killed === "between answer and record" ? 2 : 1
        expect(await copiesTo(deferred)).toEqual(Array.from({ length: copies }, () => messageIdHeader))
        const transfers = (await testbed.token.read()).filter(
          ({ from, value }) => from.toLowerCase() === wallet.address.toLowerCase() && value === 20_000n
        )
        expect(transfers).toHaveLength(["never", "before the retry", "between answer and record"].indexOf(killed) + 1)
      }
    }),
  TIMEOUT_MILLIS
)
