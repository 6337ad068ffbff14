import { generateCertificate } from "@agentos/provider-smtp/Certificate"
import { Effect, Redacted } from "effect"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { join } from "node:path"
import { vi } from "vitest"
import { freePort } from "../peers/support/MailRig.ts"
import type { PeerRoot } from "../peers/support/PeerRoot.ts"

const HEADER_BYTES = 12
const TYPE_A = 1

/** Answers a query of one question: every name has the address 127.0.0.1, and no other record. */
const answer = (query: Buffer): Buffer => {
  const end = query.indexOf(0, HEADER_BYTES) + 5
  const isAddress = query.readUInt16BE(end - 4) === TYPE_A
  const header = Buffer.from(query.subarray(0, HEADER_BYTES))
  // A response with recursion (RFC 1035, section 4.1.1), the question, and one answer or none.
  for (const [place, value] of [0x8180, 1, Number(isAddress), 0, 0].entries())
    header.writeUInt16BE(value, 2 + 2 * place)
  // The name of the question by a pointer, A, IN, no time to live, four bytes.
  const record = [0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]
  return Buffer.concat([header, query.subarray(HEADER_BYTES, end), Buffer.from(isAddress ? record : [])])
}

const startDns = async () => {
  const socket = createSocket("udp4")
  socket.on("message", (query, from) => socket.send(answer(query), from.port, from.address))
  socket.bind(0, "127.0.0.1")
  await once(socket, "listening")
  return socket
}

/** Starts Let's Encrypt's test server on this machine. `lego` runs its client, which proves by HTTP that it serves the name. */
export const startAcme = async (root: PeerRoot, host: string) => {
  const [dns, port, httpPort] = [await startDns(), await freePort(), await freePort()]
  const { certificate, privateKey } = await Effect.runPromise(generateCertificate("localhost"))
  const files = {
    certificate: await root.write("pebble.crt", certificate),
    privateKey: await root.write("pebble.key", Redacted.value(privateKey))
  }
  const pebble = { listenAddress: `127.0.0.1:${port}`, ...files, httpPort, tlsPort: 0 }
  const config = await root.write("pebble.json", JSON.stringify({ pebble }))
  // No random delays and refusals. lego asks at once and after 5 s whether it passed, so a renewal is not validated again.
  const settings = ["PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0", "PEBBLE_AUTHZREUSE=100"]
  root.start(["env", ...settings, "pebble", "-config", config, "-dnsserver", `127.0.0.1:${dns.address().port}`])
  // It refuses requests without TLS, once it listens.
  await vi.waitFor(() => fetch(`http://127.0.0.1:${port}`), { timeout: 60_000 })
  const account = ["--accept-tos", "--email", "ops@agents.test", "--path", "/peer/lego"]
  const options = ["--server", `https://localhost:${port}/dir`, ...account, "--domains", host]
  return {
    lego: async (...command: ReadonlyArray<string>): Promise<void> => {
      await root.sh(
        'LEGO_CA_CERTIFICATES=/peer/pebble.crt "$@"',
        "lego",
        ...options,
        "--http",
        "--http.port",
        `127.0.0.1:${httpPort}`,
        ...command
      )
    },
    certificateFile: join(root.shared, "lego/certificates", `${host}.crt`),
    keyFile: join(root.shared, "lego/certificates", `${host}.key`),
    close: () => dns.close()
  }
}
