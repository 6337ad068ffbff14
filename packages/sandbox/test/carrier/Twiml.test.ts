import { describe, expect, it } from "vitest"
import { parseXml, readTwiml, TwimlError } from "../../src/carrier/call/Twiml.ts"

describe("XML", () => {
  it("is parsed with attributes, entities, comments and character data", () => {
    const text = `<?xml version="1.0"?><!-- a --><A x="1 &amp; &quot;2&quot;" y='&#65;&#x42;'>a &lt;b&gt; <![CDATA[<c>]]><B/></A>\n`
    expect(parseXml(text)).toEqual({
      name: "A",
      attributes: { x: '1 & "2"', y: "AB" },
      children: ["a <b> ", "<c>", { name: "B", attributes: {}, children: [] }]
    })
  })

  it.each([
    "",
    "text",
    "<A>",
    "<A></B>",
    "<A/><B/>",
    "<A x=1/>",
    '<A x="1" x="2"/>',
    "<A>&foo;</A>",
    "<A>&amp</A>",
    "<A>&#x110000;</A>",
    '<!DOCTYPE A [<!ENTITY e "x">]><A>&e;</A>',
    "<!DOCTYPE A><A/>",
    `${"<A>".repeat(21)}${"</A>".repeat(21)}`,
    "<A>".repeat(20_000),
    "<A><!-- </A>",
    "<A".repeat(40)
  ])("is rejected if it is %s", (text) => {
    expect(() => parseXml(text)).toThrow(TwimlError)
    expect(() => parseXml(text)).toThrow(expect.objectContaining({ code: 12_100 }))
  })
})

const relay = (attributes: string, inside = "") =>
  `<Response><Connect action="/next" method="GET"><ConversationRelay ${attributes}>${inside}</ConversationRelay></Connect></Response>`

describe("TwiML", () => {
  it("is parsed verb by verb", () => {
    const text =
      '<Response><Say voice="x">Hello &amp; bye</Say><Pause/><Pause length="3"/><Hangup/><Reject reason="busy"/></Response>'
    expect(readTwiml(text)).toEqual([
      { _tag: "Say", text: "Hello & bye" },
      { _tag: "Pause", seconds: 1 },
      { _tag: "Pause", seconds: 3 },
      { _tag: "Hangup" },
      { _tag: "Reject", reason: "busy" }
    ])
    expect(readTwiml("<Response><Reject/></Response>")).toEqual([{ _tag: "Reject", reason: "rejected" }])
  })

  it("reads the settings of a ConversationRelay", () => {
    const attributes =
      'url="wss://a.test/r?t=1" welcomeGreeting="Hi" welcomeGreetingInterruptible="none" interruptible="false" ' +
      'dtmfDetection="true" language="fr-FR" voice="v" ttsProvider="Google"'
    const inside = '<Language code="de-DE" voice="w"/><Parameter name="n" value="1"/>'
    expect(readTwiml(relay(attributes, inside))).toEqual([
      {
        _tag: "Connect",
        action: "/next",
        method: "GET",
        relay: {
          url: "wss://a.test/r?t=1",
          welcomeGreeting: "Hi",
          welcomeGreetingInterruptible: "none",
          interruptible: "none",
          dtmfDetection: true,
          partialPrompts: false,
          language: "fr-FR",
          parameters: { n: "1" }
        }
      }
    ])
  })

  it.each([
    ["invalid XML", "hello", 12_100],
    ["another root element", "<Answer/>", 12_100],
    ["a recording", "<Response><Record/></Response>", 12_200],
    ["an unknown attribute", '<Response><Say record="true">x</Say></Response>', 12_200],
    ["a pause with an invalid length", '<Response><Pause length="long"/></Response>', 12_200],
    ["an unknown reason", '<Response><Reject reason="bored"/></Response>', 12_200],
    ["text between verbs", "<Response>hello</Response>", 12_200],
    ["a relay without a url", relay(""), 12_200],
    ["a relay over http", relay('url="https://a.test/"'), 12_200],
    ["a relay with an unknown attribute", relay('url="wss://a.test/" record="true"'), 12_200],
    ["a parameter without a value", relay('url="wss://a.test/"', '<Parameter name="n"/>'), 12_200],
    ["a connection to something else", "<Response><Connect><Stream/></Connect></Response>", 12_200]
  ])("is rejected with %s", (_, text, code) => {
    expect(() => readTwiml(text)).toThrow(TwimlError)
    expect(() => readTwiml(text)).toThrow(expect.objectContaining({ code }))
  })
})
