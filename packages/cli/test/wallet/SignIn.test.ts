import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { verifyMessage } from "viem"
import { errorReply, type Reply, useApiDouble } from "../support/ApiDouble.ts"
import { play, removeFolders } from "../support/InProcess.ts"
import { PAYER, signInReply } from "../support/PaidAnswers.ts"

const api = useApiDouble()
beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }))
afterAll(() => {
  vi.useRealTimers()
  removeFolders()
})

const PATH = "/api/v1/auth/token"
const NEW_TOKEN = "at_v1_recovered"
const recovered: Reply = { data: { authentication: { accessToken: NEW_TOKEN } } }

/** Runs `login --wallet` without a saved token. */
const login = async (replies: ReadonlyArray<Reply>, more: { args?: ReadonlyArray<string>; env?: object } = {}) => {
  api.seen.length = 0
  let home = ""
  const scene = {
    args: ["login", "--wallet", ...(more.args ?? [])],
    exit: 0,
    server: { [`POST ${PATH}`]: replies },
    env: { AGENTOS_TOKEN: "", ...more.env },
    prepare: (folder: string) => void (home = folder)
  }
  const { exit, text } = await play(api, scene, "program")
  const saved = () => readFileSync(join(home, "credentials.json"), "utf8")
  return { exit, text, saved }
}

describe("agentctl login --wallet", () => {
  it("signs the message of the server, and saves the token without printing it", async () => {
    const { exit, saved, text } = await login([signInReply(PATH), recovered])
    assert.strictEqual(exit, 0, text)
    assert.notInclude(text, NEW_TOKEN)
    assert.include(saved(), NEW_TOKEN)
    const [asked, signed] = api.seen
    assert.isUndefined(asked!.headers["sign-in-with-x"])
    for (const { headers } of api.seen) assert.isUndefined(headers.authorization)
    const header = Buffer.from(String(signed!.headers["sign-in-with-x"]), "base64").toString()
    const { signature, ...fields } = JSON.parse(header) as Readonly<Record<string, string>>
    const { host } = new URL(api.url())
    assert.deepStrictEqual(fields, {
      domain: host,
      uri: `${api.url()}${PATH}`,
      version: "1",
      chainId: "eip155:196",
      nonce: "0123456789abcdefghij",
      issuedAt: "2026-01-31T12:00:00.000Z",
      expirationTime: "2026-01-31T12:05:00.000Z",
      statement: "Returns the current access token of the wallet that signs in.",
      address: PAYER,
      type: "eip191"
    })
    // The text of EIP-4361.
    const message = [
      `${host} wants you to sign in with your Ethereum account:`,
      PAYER,
      "",
      "Returns the current access token of the wallet that signs in.",
      "",
      `URI: ${api.url()}${PATH}`,
      "Version: 1",
      "Chain ID: 196",
      "Nonce: 0123456789abcdefghij",
      "Issued At: 2026-01-31T12:00:00.000Z",
      "Expiration Time: 2026-01-31T12:05:00.000Z"
    ].join("\n")
    assert.isTrue(await verifyMessage({ address: PAYER, message, signature: signature as `0x${string}` }))
  })

  it.for([
    ["for another domain", { domain: "other.example" }, "it is not for this server"],
    ["for another URI", { uri: "https://other.example/api/v1/auth/token" }, "it is not for this server"],
    ["of another version", { version: "2" }, "a field is not supported"],
    ["without an expiry", { expirationTime: undefined }, "a time is missing"]
  ] as const)("does not sign a message %s", async ([, info, problem]) => {
    const { exit, text } = await login([signInReply(PATH, info), recovered])
    assert.strictEqual(exit, 1)
    assert.include(text, `The sign-in message of the server is invalid: ${problem}. Nothing was signed.`)
    assert.lengthOf(api.seen, 1)
  })

  it("reports a wallet without purchases, and a server without sign-in", async () => {
    const unknown = errorReply(404, "RESOURCE_NOT_FOUND", { message: "The wallet has bought nothing here." })
    assert.strictEqual((await login([signInReply(PATH), unknown])).exit, 5)
    assert.strictEqual((await login([errorReply(404, "RESOURCE_NOT_FOUND")])).exit, 5)
  })

  it("rejects the flags of the wallet without --wallet", async () => {
    const { exit, text } = await play(api, { args: ["login", "--wallet-file", "key"], exit: 3 }, "program")
    assert.deepStrictEqual([exit, text.includes("need --wallet")], [3, true])
  })
})
