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

  // Made by getExpectedTwilioSignature of the vendor's SDK, twilio 6.2.0 on npm.
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

  it("is rejected with another token", () => {
    const form = new URLSearchParams({ CallSid: "CA1" })
    expect(TwilioSignature.verify(Redacted.make("other"), voice, form, "Q/Rv0Jux0Vkx8hoeC5w71gDjaFM=")).toBe(false)
  })
})
