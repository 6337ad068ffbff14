import type { AgentOs, Mail, Mailbox } from "@agentos/client"
import { describe, expect, it, onTestFinished } from "vitest"
import { freshName } from "../support/Agent.ts"
import { connectTo, RecordedNetwork, sendMail } from "../support/ClientRig.ts"
import { startForwarder } from "../support/Forwarder.ts"
import { usePhone } from "../support/usePhone.ts"

const host = usePhone()

const open = async (more: Omit<Parameters<typeof connectTo>[1], "wallet"> = {}) => {
  const { agent } = await host.customer()
  const client = await connectTo(host.sandbox, { wallet: agent.account, ...more })
  onTestFinished(() => client.close())
  return { client, mailbox: await client.mailboxes.create({ localPart: freshName() }) }
}

const receive = ({ address }: Mailbox, subject: string, text = "Are you there?") =>
  sendMail(host.sandbox, address, { subject, text })

/** Returns the status of each event of received mail by its subject. */
const statuses = async (client: AgentOs): Promise<Readonly<Record<string, string>>> => {
  const { items } = await client.call("listEvents", { types: ["email.received"] })
  return Object.fromEntries(
    items.flatMap((event) => (event.type === "email.received" ? [[event.payload.subject, event.status]] : []))
  )
}

/** Takes new mail until a body returns true. */
const readUntil = async (mailbox: Mailbox, body: (mail: Mail) => unknown): Promise<void> => {
  for await (const mail of mailbox.messages({ new: true })) if ((await body(mail)) === true) return
}

/** Returns everything that a stream yields until it ends. */
const all = async <A>(stream: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const items: Array<A> = []
  for await (const item of stream) items.push(item)
  return items
}

/** Returns a WebSocket that counts the sessions which have become ready, and lists the numbers of the turns it received. */
const countingSocket = () => {
  const sessions = { ready: 0, numbers: new Array<string>() }
  class Counted extends WebSocket {
    constructor(url: string) {
      super(url)
      this.addEventListener("message", ({ data }) => {
        const message: { readonly type: string; readonly phoneNumberId?: string } = JSON.parse(String(data))
        if (message.type === "session.ready") sessions.ready++
        if (message.type === "call.turn") sessions.numbers.push(message.phoneNumberId!)
      })
    }
  }
  return { sessions, WebSocket: Counted }
}

describe("new mail", () => {
  it("is acknowledged after the body of the loop, in order of arrival, and not before", async () => {
    const { client, mailbox } = await open()
    await receive(mailbox, "One")
    const seen: Array<unknown> = []
    await readUntil(mailbox, async ({ subject }) => {
      seen.push([subject, await statuses(client)])
      if (subject === "One") await receive(mailbox, "Two")
      return subject === "Two"
    })
    expect(seen).toEqual([
      ["One", { One: "pending" }],
      ["Two", { One: "acknowledged", Two: "pending" }]
    ])
  })

  it("is answered once by each of two agents that answer every mail, and both go on", async () => {
    const [ada, bob] = [await open(), await open()]
    const answered = Promise.withResolvers<void>()
    const answerAll = async ({ mailbox }: typeof ada) => {
      const seen: Array<unknown> = []
      await readUntil(mailbox, async (mail) => {
        const reply = await mail.reply({ text: "Hello!" })
        seen.push([mail.subject, mail.record.automatic, reply?.subject ?? null])
        if (mail.subject === "Re: Hi") answered.resolve()
        return mail.subject === "Last"
      })
      return seen
    }
    const loops = Promise.all([answerAll(ada), answerAll(bob)])
    await ada.mailbox.send({ to: [bob.mailbox.address], subject: "Hi", text: "Hello" })
    await answered.promise
    await receive(ada.mailbox, "Last")
    await receive(bob.mailbox, "Last")
    expect(await loops).toEqual([
      [
        ["Re: Hi", "auto_replied", null],
        ["Last", null, "Re: Last"]
      ],
      [
        ["Hi", null, "Re: Hi"],
        ["Last", null, "Re: Last"]
      ]
    ])
    const answer = (await all(ada.mailbox.messages({ direction: "inbound", q: "Hi" })))[0]!
    await expect(
      ada.client.call("sendMessage", { mailboxId: ada.mailbox.id, inReplyTo: answer.id, text: "Hello!" })
    ).rejects.toMatchObject({ code: "CONFLICT", moneyMoved: "no" })
    expect((await answer.reply({ text: "It was me.", automatic: false })).record).toMatchObject({
      to: [bob.mailbox.address],
      automatic: null
    })
  })

  it("is forwarded with its HTML and its files", async () => {
    const { mailbox } = await open()
    await sendMail(host.sandbox, mailbox.address, {
      subject: "List",
      text: "See the list.",
      html: "<body><p>See the list.</p></body>",
      attachments: [{ filename: "list.csv", contentType: "text/csv", content: "a;b\n" }]
    })
    await readUntil(mailbox, async (mail) => {
      const forwarded = await mail.forward({ to: ["carol@outside.example"], text: "For you <3" })
      expect(forwarded.record).toMatchObject({
        subject: "Fwd: List",
        to: ["carol@outside.example"],
        automatic: null,
        attachments: [{ filename: "list.csv", contentType: "text/csv", sizeBytes: 4 }],
        text: expect.stringMatching(/^For you <3\n\n-+ Forwarded message -+\nFrom: .*\n(?:.*\n)+\nSee the list\.\s*$/),
        html: expect.stringMatching(/^<body><div>For you &lt;3<\/div>[^]*<p>See the list\.<\/p><\/body>\s*$/)
      })
      expect(forwarded.record.threadId).toBe(forwarded.id)
      const [file] = forwarded.record.attachments
      expect(new TextDecoder().decode(await forwarded.attachment(file!.attachmentId))).toBe("a;b\n")
      return true
    })
  })

  it("is not acknowledged when the body throws, and comes again", async () => {
    const { client, mailbox } = await open()
    await receive(mailbox, "Hard")
    const failing = readUntil(mailbox, () => Promise.reject(new Error("out of order")))
    await expect(failing).rejects.toThrow("out of order")
    expect(await statuses(client)).toEqual({ Hard: "pending" })
    await readUntil(mailbox, async (mail) => {
      expect(mail.subject).toBe("Hard")
      await mail.acknowledge()
      return true
    })
    expect(await statuses(client)).toEqual({ Hard: "acknowledged" })
  })

  it("is answered in its thread", async () => {
    const { mailbox } = await open()
    await receive(mailbox, "Question")
    await readUntil(mailbox, async (mail) => {
      const reply = await mail.reply({ text: "Answer." })
      expect(reply?.record).toMatchObject({
        subject: "Re: Question",
        threadId: mail.record.threadId,
        to: [`visitor@${host.sandbox.mail.outside.domain}`]
      })
      return true
    })
    const stored: Array<string> = []
    for await (const { subject } of mailbox.messages()) stored.push(subject)
    expect(stored).toEqual(["Re: Question", "Question"])
  })

  it("is found by its one-time code, and awaited in vain for a limited time", async () => {
    const { mailbox } = await open()
    const from = `visitor@${host.sandbox.mail.outside.domain}`
    const waiting = mailbox.waitForCode({ from, subject: "sign up" })
    await receive(mailbox, "News", "Your code is 111111.")
    await receive(mailbox, "Sign up", "Your code is 482910.")
    const { outside } = host.sandbox.mail
    expect(await waiting).toMatchObject({ code: "482910", domain: outside.domain, verified: true })
    // Anyone can send a code.
    const forged = { from: "visitor@stranger.example", subject: "Log in", text: "Your code is 666666." }
    await sendMail(host.sandbox, mailbox.address, forged)
    expect(await mailbox.waitForCode({ subject: "log in", unverified: true })).toMatchObject({
      code: "666666",
      domain: "stranger.example",
      verified: false
    })
    await expect(mailbox.waitForCode({ subject: "log in", timeoutSeconds: 1 })).rejects.toMatchObject({
      message: expect.stringContaining("no one-time code of a verified sender") as string
    })
    const inVain = mailbox.waitForCode({ from: "nowhere@outside.example", timeoutSeconds: 1 })
    await expect(inVain).rejects.toMatchObject({ code: "TIMEOUT", isRetryable: true })
  })

  it("is found by its confirmation link, also in HTML alone, with the code of the same mail", async () => {
    const { mailbox } = await open()
    const link = "https://shop.example/verify?token=0f4c3b2a19d8e7&lang=en"
    const cells = "739204".replaceAll(/./g, "<td>$&</td>")
    const html = `<p>Your code:</p><table><tr>${cells}</tr></table><p><a href="${link.replace("&", "&amp;")}">Verify</a></p>`
    await sendMail(host.sandbox, mailbox.address, { subject: "Welcome", html })
    const { messageId } = await mailbox.waitForLink()
    expect(await mailbox.waitForCode()).toMatchObject({ code: "739204", link, messageId, verified: true })
    await expect(mailbox.waitForLink({ timeoutSeconds: 1 })).rejects.toMatchObject({ code: "TIMEOUT" })
    // A sent message has neither, although a copy of it would.
    const sent = await mailbox.send({
      to: ["bob@outside.example"],
      subject: "Code",
      text: `Your code is 739204: ${link}`
    })
    expect([sent.code, sent.link]).toEqual([undefined, undefined])
  })
})

describe("a subscription", () => {
  it("connects again after its socket was closed, and misses nothing", async () => {
    const { origin, port } = new URL(host.sandbox.websocketUrl)
    const forwarder = await startForwarder(() => Number(port))
    onTestFinished(() => forwarder.stop())
    const urls: Array<string> = []
    class Forwarded extends WebSocket {
      constructor(url: string) {
        urls.push(url)
        super(url.replace(origin, forwarder.url.replace("http", "ws")))
      }
    }
    const { mailbox } = await open({ WebSocket: Forwarded })
    await receive(mailbox, "Before")
    const seen: Array<string> = []
    await readUntil(mailbox, async ({ subject }) => {
      seen.push(subject)
      if (subject === "Before") {
        forwarder.cut()
        await receive(mailbox, "After")
      }
      return subject === "After"
    })
    expect(seen).toEqual(["Before", "After"])
    expect(urls.length).toBeGreaterThan(1)
    expect(urls.filter((url) => url.includes("?") || url.includes("at_v1"))).toEqual([])
  })

  it("without a filter leases its events, so that two share them", async () => {
    const { client, mailbox } = await open()
    const stop = new AbortController()
    const seen: Array<string> = []
    const consume = async () => {
      for await (const event of client.events({ signal: stop.signal }))
        if (event.type === "email.received" && seen.push(event.payload.subject) === 4) stop.abort()
    }
    const consumers = [consume(), consume()]
    for (const subject of ["A", "B", "C", "D"]) await receive(mailbox, subject)
    await Promise.all(consumers)
    expect(seen.toSorted()).toEqual(["A", "B", "C", "D"])
    const { items } = await client.call("listEvents", { types: ["payment.completed"] })
    expect(items.map(({ status }) => status)).toEqual(["acknowledged"])
  })

  it("ends when its signal is aborted and when the client is closed", async () => {
    const { sessions, WebSocket } = countingSocket()
    const { client, mailbox } = await open({ WebSocket })
    const stop = new AbortController()
    const aborted = all(mailbox.messages({ new: true, signal: stop.signal }))
    const closed = all(client.events({ types: ["phone.call.ended"] }))
    await expect.poll(() => sessions.ready).toBe(2)
    stop.abort()
    expect(await aborted).toEqual([])
    client.close()
    expect(await closed).toEqual([])
  })

  it("opens with a new token if another program has replaced the first one before", async () => {
    const { agent } = await host.customer()
    const network = new RecordedNetwork()
    const client = await connectTo(host.sandbox, { wallet: agent.account, fetch: network.fetch })
    const other = await connectTo(host.sandbox, { wallet: agent.account })
    onTestFinished(() => [client, other].forEach((one) => one.close()))
    const mailbox = await client.mailboxes.create({ localPart: freshName() })
    const replaced = Promise.withResolvers<void>()
    const { fetch } = network
    const racing = await connectTo(host.sandbox, {
      wallet: agent.account,
      fetch: async (url, init) => {
        const response = await fetch(url, init)
        if (!url.endsWith("/realtime-token") || network.to("/realtime-token").length > 1) return response
        await other.call("revokeTokens")
        replaced.resolve()
        return response
      }
    })
    onTestFinished(() => racing.close())
    const next = racing.events({ types: ["email.received"] }).next()
    await replaced.promise
    await receive(mailbox, "Hello")
    expect((await next).value).toMatchObject({ payload: { subject: "Hello" } })
  })

  it("fails if it can't be opened", async () => {
    const network = new RecordedNetwork()
    const { client } = await open({ fetch: network.fetch })
    network.fate = ({ url }) => (url.endsWith("/realtime-token") ? "lost before" : "sent")
    await expect(all(client.events())).rejects.toMatchObject({ code: "UNREACHABLE" })
  })
})

describe("calls", () => {
  it("to a number are turns, which are answered over the voice session", async () => {
    const { sessions, WebSocket } = countingSocket()
    const { client } = await open({ WebSocket })
    const number = await client.phoneNumbers.buy({ beginMessage: "This is Ada." })
    await number.addMinutes()
    const answering = (async () => {
      for await (const call of number.calls()) {
        expect([call.direction, call.to]).toEqual(["inbound", number.number])
        for await (const turn of call.turns())
          await (turn.text === "Bye." ? turn.hangUp("Goodbye.") : turn.reply(`You said: ${turn.text}`))
        return call
      }
      throw new Error("no call")
    })()
    await expect.poll(() => sessions.ready).toBe(1)
    const played = await host.carrier.callIn(number.number, { lines: ["Hello?", "Bye."] })
    const call = await answering
    expect((await host.carrier.over(played)).heard).toEqual(["This is Ada.", "You said: Hello?", "Goodbye."])
    await expect.poll(async () => (await call.transcript()).complete).toBe(true)
  })

  it("to the numbers of two programs of one wallet go to the program that follows the number, and to no other", async () => {
    const { agent } = await host.customer()
    const programs = await Promise.all(
      ["Ada", "Bob"].map(async (name) => {
        const { sessions, WebSocket } = countingSocket()
        const client = await connectTo(host.sandbox, { wallet: agent.account, WebSocket })
        onTestFinished(() => client.close())
        const number = await client.phoneNumbers.buy({ beginMessage: `${name}'s line.` })
        await number.addMinutes()
        void (async () => {
          for await (const call of number.calls())
            void (async () => {
              for await (const turn of call.turns()) await turn.hangUp(`${name} speaking.`)
            })()
        })()
        await expect.poll(() => sessions.ready).toBe(1)
        return { name, number, sessions }
      })
    )
    await Promise.all(
      programs.flatMap(({ name, number }) =>
        Array.from({ length: 4 }, async () => {
          const play = await host.carrier.over(await host.carrier.callIn(number.number, { lines: ["Hello?"] }))
          expect(play.heard).toEqual([`${name}'s line.`, `${name} speaking.`])
        })
      )
    )
    for (const { number, sessions } of programs) expect(new Set(sessions.numbers)).toEqual(new Set([number.id]))
  })

  it("by a number end with their turns, and stream their answers", async () => {
    const { client } = await open()
    const number = await client.phoneNumbers.buy()
    const to = await host.carrier.person({ lines: ["Who's there?"], seconds: 3 })
    const call = await number.call({ to, initialGreeting: "Hello." })
    const heard: Array<string> = []
    const speech = async function* () {
      yield "This is "
      yield "Ada."
    }
    for await (const turn of call.turns()) {
      heard.push(turn.text)
      await turn.reply(speech())
    }
    expect(heard).toEqual(["Who's there?"])
    expect((await call.read()).status).toBe("ended")
    expect((await host.carrier.playTo(to)).heard.join(" ")).toContain("Ada.")
  })
})
