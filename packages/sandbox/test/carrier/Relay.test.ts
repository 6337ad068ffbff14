import { describe, expect, it } from "vitest"
import type { Relay } from "./Application.ts"
import { accountSid, ada, connect, ours, type Rig, startRig } from "./TestCarrier.ts"

/** Places a call that is connected to the application's socket. */
const connectCall = async (
  person: object,
  attributes = "",
  inside = "",
  action = true
): Promise<{ readonly rig: Rig; readonly sid: string; readonly relay: Relay }> => {
  const rig = await startRig()
  await rig.buy()
  const set = await rig.control("people", { number: ada, ringSeconds: 0, patienceSeconds: 600, ...person })
  expect(set.status).toBe(200)
  const sid = await rig.call({
    Twiml: connect(rig.application, attributes, inside, action),
    StatusCallback: `${rig.application.url}/status`
  })
  const relay = await rig.application.relay()
  await relay.message("setup")
  return { rig, sid, relay }
}

describe("a session of ConversationRelay", () => {
  it("is opened with a signed handshake and a setup message", async () => {
    const { relay, sid } = await connectCall({ lines: [] }, "", '<Parameter name="token" value="a&amp;b"/>')
    expect(relay).toMatchObject({ path: "/relay?token=t1", isSigned: true })
    expect(await relay.message("setup")).toEqual({
      type: "setup",
      sessionId: expect.stringMatching(/^VX[0-9a-f]{32}$/),
      accountSid,
      parentCallSid: "",
      callSid: sid,
      from: ours,
      to: ada,
      forwardedFrom: "",
      callType: "PSTN",
      callerName: "",
      direction: "outbound-api",
      callStatus: "IN_PROGRESS",
      customParameters: { token: "a&b" }
    })
  })

  it("carries a conversation: the person says a line after each utterance of the agent", async () => {
    const { relay, rig, sid } = await connectCall({ lines: ["Who is it?", { text: "Thank you" }] }, 'language="en-GB"')
    relay.send({ type: "text", token: "Hel" })
    relay.send({ type: "text", token: "lo", last: false, lang: "en-GB", interruptible: true, preemptible: false })
    relay.send({ type: "text", token: "", last: true })
    expect(await relay.message("prompt")).toEqual({
      type: "prompt",
      voicePrompt: "Who is it?",
      lang: "en-GB",
      last: true
    })
    relay.speak("Your agent")
    expect(await relay.message("prompt", 2)).toMatchObject({ voicePrompt: "Thank you" })
    expect((await rig.callState(sid)).state).toBe("in-progress")
    relay.speak("Bye")
    const over = await rig.untilEnded(sid)
    expect(over).toMatchObject({
      state: "completed",
      heard: ["Hello", "Your agent", "Bye"],
      said: ["Who is it?", "Thank you"],
      endedBy: "person"
    })
    expect(await relay.closed()).toBe(1_000)
    expect(relay.messages.map(({ type }) => type)).toEqual(["setup", "prompt", "prompt"])
  })

  it("speaks the greeting of the document, and the person responds", async () => {
    const { relay, rig, sid } = await connectCall({ lines: ["Good"] }, 'welcomeGreeting="How are you?"')
    expect(await relay.message("prompt")).toMatchObject({ voicePrompt: "Good" })
    relay.speak("Fine")
    expect(await rig.untilEnded(sid)).toMatchObject({ heard: ["How are you?", "Fine"] })
  })

  it("requests the action when the person hangs up, and then sends the completed callback", async () => {
    const { relay, rig, sid } = await connectCall({ lines: [] })
    // An early completed callback would arrive before the carrier has answered another request.
    const before: Array<string> = []
    rig.application.replies.set("/action", async () => {
      await rig.log()
      before.push(...rig.application.received.map(({ path }) => path))
      return ""
    })
    relay.speak("One thing")
    await rig.untilEnded(sid)
    const { received } = rig.application
    await rig.application.request("/status")
    expect(before).toEqual(["/action"])
    expect(received.map(({ path }) => path)).toEqual(["/action", "/status"])
    const sent = () => rig.log().then(({ events }) => events.filter(({ event }) => event === "webhook"))
    await expect.poll(async () => (await sent()).map(({ purpose }) => purpose)).toEqual(["action", "status completed"])
    expect(received[0]).toMatchObject({ isSigned: true })
    expect(received[0]?.form).toMatchObject({
      CallSid: sid,
      CallStatus: "completed",
      SessionStatus: "completed",
      SessionId: relay.messages[0]?.["sessionId"]
    })
    expect(received[0]?.form).not.toHaveProperty("HandoffData")
    expect(received[0]?.form).not.toHaveProperty("ErrorCode")
  })

  it("reports pressed keys one by one if the document enables it", async () => {
    const enabled = await connectCall({ lines: [{ dtmf: "4*2" }, "Done"] }, 'dtmfDetection="true"')
    enabled.relay.speak("Press something")
    await enabled.relay.message("dtmf", 3)
    expect(enabled.relay.messages.filter(({ type }) => type === "dtmf")).toEqual(
      ["4", "*", "2"].map((digit) => ({ type: "dtmf", digit }))
    )
    const disabled = await connectCall({ lines: [{ dtmf: "42" }, "Done"] })
    disabled.relay.speak("Press something")
    disabled.relay.speak("Nothing pressed?")
    expect(await disabled.relay.message("prompt")).toMatchObject({ voicePrompt: "Done" })
    expect(disabled.relay.messages.map(({ type }) => type)).toEqual(["setup", "prompt"])
  })

  it("sends partial prompts if the document enables them", async () => {
    const { relay } = await connectCall({ lines: ["one two three four"] }, 'partialPrompts="true"')
    relay.speak("Count")
    await relay.message("prompt", 2)
    expect(relay.messages.slice(1)).toMatchObject([
      { voicePrompt: "one two", last: false },
      { voicePrompt: "one two three four", last: true }
    ])
  })

  it("accepts sounds, keys and languages", async () => {
    const { relay, rig, sid } = await connectCall({ lines: ["Bonjour", "Au revoir"] })
    relay.send({ type: "sendDigits", digits: "1w2#" })
    relay.send({ type: "language", ttsLanguage: "fr-FR", transcriptionLanguage: "fr-FR" })
    relay.send({ type: "play", source: "https://a.test/b.mp3", loop: 1, preemptible: true, interruptible: false })
    expect(await relay.message("prompt")).toMatchObject({ voicePrompt: "Bonjour", lang: "fr-FR" })
    expect((await rig.callState(sid)).heard).toEqual(["[keys 1w2#]", "[sound of https://a.test/b.mp3]"])
  })
})

describe("a person", () => {
  it("interrupts the agent, and does not hear the rest", async () => {
    const { relay, rig, sid } = await connectCall({
      lines: [{ text: "Stop", interrupt: true }],
      interruptAfterMillis: 400
    })
    relay.send({ type: "text", token: "Life is a complex set " })
    relay.send({ type: "text", token: "of things that go on and on", last: false })
    const interrupt = await relay.message("interrupt")
    // 400 ms at 50 characters a second, in whole words.
    expect(interrupt).toEqual({
      type: "interrupt",
      utteranceUntilInterrupt: "Life is a complex",
      durationUntilInterruptMs: 400
    })
    relay.send({ type: "text", token: " and is never heard", last: true })
    expect(await relay.message("prompt")).toMatchObject({ voicePrompt: "Stop" })
    expect(relay.messages.map(({ type }) => type)).toEqual(["setup", "interrupt", "prompt"])
    relay.speak("All right")
    expect(await rig.untilEnded(sid)).toMatchObject({ heard: ["Life is a complex", "All right"], said: ["Stop"] })
  })

  it("interrupts with a key during a text that was sent at once", async () => {
    const lines = [{ dtmf: "1", interrupt: true, afterMillis: 100 }]
    const { relay } = await connectCall({ lines }, 'dtmfDetection="true"')
    relay.speak("Press one for more and two for less")
    expect(await relay.message("interrupt")).toMatchObject({ utteranceUntilInterrupt: "Press" })
    expect(await relay.message("dtmf")).toEqual({ type: "dtmf", digit: "1" })
  })

  it.each([
    ["the document", 'interruptible="none"', {}],
    ["the document, for speech", 'interruptible="dtmf"', {}],
    ["the message", "", { interruptible: "none" }],
    ["the message, in the older way", "", { interruptible: false }]
  ])("waits for the end if %s does not allow interruptions", async (_, attributes, message) => {
    const lines = [{ text: "May I?", interrupt: true, afterMillis: 0 }]
    const { relay, rig, sid } = await connectCall({ lines }, attributes)
    relay.send({ type: "text", token: "Listen ", last: false, ...message })
    await expect.poll(async () => (await rig.callState(sid)).heard).toEqual(["Listen "])
    // The line would have been said by now.
    await rig.callState(sid)
    expect(relay.messages.map(({ type }) => type)).toEqual(["setup"])
    relay.send({ type: "text", token: "well", last: true, ...message })
    expect(await relay.message("prompt")).toMatchObject({ voicePrompt: "May I?" })
    expect(relay.messages.map(({ type }) => type)).toEqual(["setup", "prompt"])
  })

  it("hangs up during an utterance", async () => {
    const lines = ["Hello", { hangup: true, interrupt: true, afterMillis: 200 }]
    const { relay, rig, sid } = await connectCall({ lines })
    relay.speak("Yes?")
    await relay.message("prompt")
    relay.send({ type: "text", token: "This is a rather long answer", last: false })
    expect(await rig.untilEnded(sid)).toMatchObject({ endedBy: "person", heard: ["Yes?", "This is a"] })
    expect(await relay.closed()).toBe(1_000)
    expect((await rig.application.request("/action")).form).toMatchObject({ SessionStatus: "completed" })
  })

  it("stores the heard part of an utterance without an end", async () => {
    const { relay, rig, sid } = await connectCall({ lines: ["x"], seconds: 60 })
    relay.send({ type: "text", token: "I was about to" })
    await expect.poll(async () => (await rig.callState(sid)).heard).toEqual(["I was about to"])
    await rig.control("clock", { speed: 1_000 })
    expect(await rig.untilEnded(sid)).toMatchObject({ heard: ["I was about to"], seconds: 60, endedBy: "person" })
  })

  it("stays silent for the given time, and then continues", async () => {
    const { relay, rig } = await connectCall({ lines: ["Hm", { silence: 20 }, "Still here"] })
    relay.speak("Hello")
    await relay.message("prompt")
    relay.speak("Are you there?")
    relay.speak("Hello?")
    expect(relay.messages).toHaveLength(2)
    await rig.control("clock", { speed: 1_000 })
    expect(await relay.message("prompt", 2)).toMatchObject({ voicePrompt: "Still here" })
  })

  it("speaks first if the agent is silent", async () => {
    const { relay, rig } = await connectCall({ lines: ["Anybody?"], patienceSeconds: 30 })
    expect(relay.messages).toHaveLength(1)
    await rig.control("clock", { speed: 1_000 })
    expect(await relay.message("prompt")).toMatchObject({ voicePrompt: "Anybody?" })
  })

  it("hangs up after `seconds`, with lines left", async () => {
    const { relay, rig, sid } = await connectCall({ lines: ["a", "b", "c"], seconds: 60 })
    relay.speak("Hello")
    await relay.message("prompt")
    await rig.control("clock", { speed: 1_000 })
    expect(await rig.untilEnded(sid)).toMatchObject({ seconds: 60, said: ["a"], endedBy: "person" })
  })

  it("stays after the last line while `seconds` has not passed", async () => {
    const { relay, rig, sid } = await connectCall({ lines: ["a"], seconds: 600 })
    for (const text of ["one", "two", "three"]) relay.speak(text)
    await expect.poll(async () => (await rig.callState(sid)).heard).toEqual(["one", "two", "three"])
    expect((await rig.callState(sid)).state).toBe("in-progress")
  })
})

describe("the end of a session", () => {
  const more = "<Response><Say>And now</Say><Hangup/></Response>"

  it("by the application passes on its data, and the action continues the call", async () => {
    const { relay, rig, sid } = await connectCall({ lines: [] })
    rig.application.replies.set("/action", more)
    relay.send({ type: "end", handoffData: '{"reason":"bye"}' })
    expect(await rig.untilEnded(sid)).toMatchObject({ heard: ["And now"], endedBy: "agent" })
    expect(rig.application.requests("/action").map(({ form }) => form)).toMatchObject([
      { SessionStatus: "ended", HandoffData: '{"reason":"bye"}', CallStatus: "in-progress" }
    ])
    expect(await relay.closed()).toBe(1_000)
  })

  it.each([
    ["breaks", (relay: Relay) => relay.socket.terminate()],
    ["is closed without an end message", (relay: Relay) => relay.socket.close(1_000)]
  ])("whose socket %s is reported to the action, which can reconnect", async (_, breakSocket) => {
    const { relay, rig, sid } = await connectCall({ lines: ["First", "Second"] })
    relay.speak("Hello")
    await relay.message("prompt")
    rig.application.replies.set("/action", connect(rig.application))
    breakSocket(relay)
    const again = await rig.application.relay(2)
    const setup = await again.message("setup")
    expect(rig.application.requests("/action").map(({ form }) => form)).toMatchObject([
      { SessionStatus: "failed", ErrorCode: "64105", ErrorMessage: "Websocket ended", CallStatus: "in-progress" }
    ])
    expect(setup).toMatchObject({ callSid: sid, callStatus: "IN_PROGRESS" })
    expect(setup["sessionId"]).not.toBe(relay.messages[0]?.["sessionId"])
    // The person repeats the line without a response.
    await rig.control("clock", { speed: 1_000 })
    expect(await again.message("prompt")).toMatchObject({ voicePrompt: "First" })
    await rig.control("clock", { speed: 1 })
    again.speak("Back again")
    expect(await again.message("prompt", 2)).toMatchObject({ voicePrompt: "Second" })
    again.speak("Bye")
    expect(await rig.untilEnded(sid)).toMatchObject({ heard: ["Hello", "Back again", "Bye"], endedBy: "person" })
  })

  it("whose socket never opened is reported, and the call continues", async () => {
    const rig = await startRig()
    await rig.buy()
    rig.application.accepts.current = false
    rig.application.replies.set("/action", more)
    const sid = await rig.call({ Twiml: connect(rig.application) })
    expect(await rig.untilEnded(sid)).toMatchObject({ heard: ["And now"] })
    expect(rig.application.requests("/action")[0]?.form).toMatchObject({ SessionStatus: "failed", ErrorCode: "64102" })
  })

  it("without an action continues with the document", async () => {
    const { relay, rig, sid } = await connectCall({ lines: [], seconds: 60 }, "", "", false)
    relay.send({ type: "end" })
    expect(await rig.untilEnded(sid)).toMatchObject({ endedBy: "agent", reason: "the document ended" })
    await rig.application.request("/status")
    expect(rig.application.requests("/action")).toEqual([])
  })

  it("whose action fails ends the call", async () => {
    const { relay, rig, sid } = await connectCall({ lines: [] })
    rig.application.replies.set("/action", { status: 502, body: "" })
    relay.socket.terminate()
    expect(await rig.untilEnded(sid)).toMatchObject({
      endedBy: "carrier",
      reason: expect.stringContaining("error 11200")
    })
  })

  it("comes at the time limit, also while an action hangs", async () => {
    const { relay, rig, sid } = await connectCall({ lines: [] })
    rig.application.replies.set("/action", () => undefined)
    relay.socket.terminate()
    await rig.application.request("/action")
    await rig.post(`/Calls/${sid}.json`, { TimeLimit: "100" })
    await rig.control("clock", { speed: 1_000 })
    expect(await rig.untilEnded(sid)).toMatchObject({ endedBy: "carrier", seconds: 100 })
  })
})

describe("invalid messages", () => {
  it.each([
    "no JSON",
    "[]",
    '{"type":"hello"}',
    '{"token":"x"}',
    '{"type":"text","token":1}',
    '{"type":"text","token":"x","last":"yes"}',
    '{"type":"text","token":"x","final":true}',
    '{"type":"sendDigits","digits":"abc"}',
    '{"type":"end","handoffData":{}}'
  ])("are answered with an error and have no effect: %s", async (text) => {
    const { relay, rig, sid } = await connectCall({ lines: ["Yes"] })
    relay.sendRaw(text)
    expect(await relay.message("error")).toEqual({
      type: "error",
      description: `Invalid message received, code: 64107, ${text}`
    })
    relay.speak("Hello?")
    expect(await relay.message("prompt")).toMatchObject({ voicePrompt: "Yes" })
    expect((await rig.callState(sid)).heard).toEqual(["Hello?"])
  })

  it("close the socket after ten in a row", async () => {
    const { relay, rig } = await connectCall({ lines: [] })
    for (let count = 0; count < 9; count += 1) relay.sendRaw("x")
    relay.send({ type: "language" })
    for (let count = 0; count < 10; count += 1) relay.sendRaw("x")
    expect(await relay.closed()).toBe(1_007)
    expect((await rig.application.request("/action")).form).toMatchObject({
      SessionStatus: "failed",
      ErrorCode: "64105"
    })
    expect(relay.messages.filter(({ type }) => type === "error")).toHaveLength(19)
  })
})
