import { describe, expect, it } from "vitest"
import { twilioSignature } from "../../src/carrier/call/Webhooks.ts"

describe("the signature", () => {
  it("matches the example in Twilio's documentation", () => {
    const form = {
      CallSid: "CA1234567890ABCDE",
      Caller: "+14158675309",
      Digits: "1234",
      From: "+14158675309",
      To: "+18005551212"
    }
    expect(twilioSignature("12345", "https://mycompany.com/myapp.php?foo=1&bar=2", form)).toBe(
      "RSOYDt4T1cUTdK1PDd93/VVr8B8="
    )
  })

  // From getExpectedTwilioSignature of Twilio's SDK, twilio 6.3.1 on npm.
  it.each([
    [
      "http://127.0.0.1:3000/phone/status?call=1&x=%20a",
      { CallSid: "CA1", From: "+14155550150", To: "+14155550100", CallStatus: "completed", Body: "é & = +" },
      "HeQRsDnROee7cByH7iS6Br8kRXY="
    ],
    ["wss://agents.example/relay/abc?token=t1", {}, "fGH/S2g56M3V00bbxEYSV26CGD4="],
    ["https://mycompany.com/myapp.php?foo=1&bar=2", {}, "ukHETpTYnMkWFetq4iFnfeSrfQw="]
  ])("matches Twilio's SDK for %s", (url, form, signature) => {
    expect(twilioSignature("sandbox-token", url, form)).toBe(signature)
  })
})
