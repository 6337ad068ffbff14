/** A stand-in for a website with accounts: it proves an address with a one-time code by mail. */
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { json } from "node:stream/consumers"

interface Form {
  readonly email: string
  readonly code?: string
}

/** Sends a mail, as the website's mail provider does. */
type SendMail = (mail: { from: string; to: string[]; subject: string; text: string }) => Promise<unknown>

/** Serves `POST /sign-up {email}`, which mails a code, and `POST /confirm {email, code}`, on a free port. */
export const startWebsite = async (sendMail: SendMail) => {
  const codes = new Map<string, string>()

  const answer = async (path: string | undefined, { code, email }: Form): Promise<[status: number, text: string]> => {
    if (path === "/sign-up") {
      const sent = String(randomInt(100_000, 1_000_000))
      codes.set(email, sent)
      const text = `Your code is ${sent.slice(0, 3)} ${sent.slice(3)}.`
      await sendMail({ from: "no-reply@outside.example", to: [email], subject: "Confirm your address", text })
      return [202, "We sent you a code."]
    }
    if (path !== "/confirm") return [404, "Not found."]
    if (code === undefined || codes.get(email) !== code) return [403, "The code is wrong."]
    codes.delete(email)
    return [201, `Welcome, ${email}!`]
  }

  const server = createServer((request, response) => {
    json(request)
      .then((form) => answer(request.url, form as Form))
      .then(([status, text]) => response.writeHead(status).end(text))
      .catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}
