import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { TwilioSignature } from "../src/index.ts"

const token = Redacted.make("sandbox-token")
const voice = "https://agents.example/webhooks/twilio/voice"

describe("a signature", () => {
  it("matches the example of the vendor's documentation", () => {
    const form = new URLSearchParams({
      To: "+18005551212",
      From: "+14158675309",
      Digits: "1234",
      Caller: "+14158675309",
      CallSid: "CA1234567890ABCDE"
    })
    const url = "https://mycompany.com/myapp.php?foo=1&bar=2"
    expect(TwilioSignature.verify(Redacted.make("12345"), url, form, "RSOYDt4T1cUTdK1PDd93/VVr8B8=")).toBe(true)
  })

  // Made by getExpectedTwilioSignature of the vendor's SDK, twilio 6.3.1 on npm.
  it.each([
    [
      "a form with all kinds of letters, and a query",
      "https://agents.example/webhooks/twilio/status/3f0e?x=%27a",
      "CallSid=CA1&CallStatus=completed&From=%2B14155550150&To=%2B14155550100&Note=%C3%A9+%26+%3D+%2B+%E2%9C%93",
      "kXwGmKMrFcT6iB9u6Cqe3Nz+xgo="
    ],
    ["a field several times", voice, "Digits=5678&Digits=1234&Digits=1234&CallSid=CA1", "T/zC0f4Be3vOZMeDJgt1BrGgNxE="],
    ["an address without its port", voice, "CallSid=CA1", "Q/Rv0Jux0Vkx8hoeC5w71gDjaFM="],
    ["an address with its port", voice, "CallSid=CA1", "IqxGaX1lLdEusg4gC6dBFd5zLhA="],
    ["a socket", "wss://agents.example/webhooks/twilio/relay/abc", "", "8bl+SXsbU6NkrXeNIBE/so+bcbk="],
    [
      "another port, which is always written",
      "http://127.0.0.1:3000/phone/status?call=1&x=%20a",
      "CallSid=CA1&From=%2B14155550150&To=%2B14155550100&CallStatus=completed&Body=%C3%A9+%26+%3D+%2B",
      "HeQRsDnROee7cByH7iS6Br8kRXY="
    ]
  ])("is the one of the vendor's SDK for %s", (_, url, form, signature) => {
    expect(TwilioSignature.verify(token, url, new URLSearchParams(form), signature)).toBe(true)
  })

  it.each([
    ["is missing", voice, "CallSid=CA1", undefined],
    ["is empty", voice, "CallSid=CA1", ""],
    ["is cut short", voice, "CallSid=CA1", "Q/Rv0Jux0Vkx8hoeC5w71gDjaF"],
    ["differs in a letter", voice, "CallSid=CA1", "Q/Rv0Jux0Vkx8hoeC5w71gDjaFN="],
    ["is of another form", voice, "CallSid=CA2", "Q/Rv0Jux0Vkx8hoeC5w71gDjaFM="],
    ["is of fewer fields", voice, "CallSid=CA1&To=1", "Q/Rv0Jux0Vkx8hoeC5w71gDjaFM="],
    ["is of another address", `${voice}?x=1`, "CallSid=CA1", "Q/Rv0Jux0Vkx8hoeC5w71gDjaFM="],
    // The signature for https://agents.example:443, a URL that does not contain the port.
    [
      "is of another port",
      "https://agents.example:8443/webhooks/twilio/voice",
      "CallSid=CA1",
      "IqxGaX1lLdEusg4gC6dBFd5zLhA="
    ]
  ])("is refused where it %s", (_, url, form, signature) => {
    expect(TwilioSignature.verify(token, url, new URLSearchParams(form), signature)).toBe(false)
  })

  const form =
    "CallSid=CA1&CallStatus=completed&From=%2B14155550150&To=%2B14155550100&Note=%C3%A9+%26+%3D+%2B+%E2%9C%93"
  // Made by getExpectedTwilioSignature of the vendor's SDK, twilio 6.3.1 on npm.
  it.each([
    ["https://agents.example/webhooks/twilio/status/3f0e?x=%27a", form, "NTIzPZQtioISCslK81vuNeRBauOeVoM+wOVoJvnit20="],
    [voice, "CallSid=CA1", "3S6AR2buv0gPmrFIkgo/LPdySKoak8pNJ+k1tGddgw8="],
    ["wss://agents.example/webhooks/twilio/relay/abc", "", "MGsVUSNSKzsnmpA+AQoad+UKX0cjr4aO7IXF3yperjI="]
  ])("with a SharedKey is that of the vendor's SDK for %s", (url, fields, signature) => {
    const params = new URLSearchParams(fields)
    const header = "key=webhooks_sharedkey_01, algorithm=hmac_sha256"
    const sharedKeys = [Redacted.make("another"), Redacted.make("whsk_0123456789abcdef")]
    const verify = (settings: string | undefined, keys = sharedKeys) =>
      TwilioSignature.verify(token, url, params, signature, { header: settings, sharedKeys: keys })
    expect(verify(header)).toBe(true)
    expect(verify(header, [])).toBe(false)
    expect(verify(undefined)).toBe(false)
    expect(verify("algorithm=HMAC_SHA1")).toBe(false)
    expect(verify("algorithm=HMAC_SHA512")).toBe(false)
    expect(verify(`${"x".repeat(600)},algorithm=HMAC_SHA256`)).toBe(false)
    expect(verify(header, [...Array.from({ length: 5 }, () => token), sharedKeys[1]!])).toBe(false)
  })

  it("is rejected with another token", () => {
    const form = new URLSearchParams({ CallSid: "CA1" })
    expect(TwilioSignature.verify(Redacted.make("other"), voice, form, "Q/Rv0Jux0Vkx8hoeC5w71gDjaFM=")).toBe(false)
  })
})
