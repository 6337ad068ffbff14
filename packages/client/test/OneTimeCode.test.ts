import { assert, describe, it } from "vitest"
import { oneTimeCode } from "@agentos/client"

const inText = (text: string) => oneTimeCode({ subject: "Hello", text, html: null })

describe("oneTimeCode", () => {
  it.each([
    ["Your verification code is 482913. It expires in 10 minutes.", "482913"],
    ["Your verification code is 482 913.", "482913"],
    ["Use 7312 as your PIN.", "7312"],
    ["G-551204 is your Google verification code.", "551204"],
    ["Enter this code:\n\n    A1B2C3\n\nIt is good for 5 minutes.", "A1B2C3"],
    ["Ihr Bestätigungscode lautet 90210-7? Nein: 664 201.", "664201"],
    ["Sign in to continue.\n\n83920156\n\nBye.", "83920156"],
    ["Your code: 123-456", "123456"]
  ])("finds in %j: %s", (text, code) => {
    assert.strictEqual(inText(text), code)
  })

  it.each([
    ["Your invoice of $1250.00 from 2026-01-31 is paid."],
    ["Security notice: we meet at 12:30 in room B."],
    ["The password was changed. Call +1 415 555 0100."],
    ["Order #123456 is on its way."],
    [""]
  ])("finds nothing in %j", (text) => {
    assert.isUndefined(inText(text))
  })

  it("searches the subject first and the HTML last", () => {
    const html = "<style>p{color:#123456}</style><p>Your code</p><p><b>771&#8203;</b></p><td>204951</td>"
    assert.strictEqual(oneTimeCode({ subject: "Your code is 111222", text: "code 333444", html }), "111222")
    assert.strictEqual(oneTimeCode({ subject: "Sign in", text: null, html }), "204951")
  })

  it("does not take a number in the address of a link for a code", () => {
    const link = "Confirm <https://mail.example/open?code=111222>"
    assert.strictEqual(inText(`${link}. Your code is 204951.`), "204951")
    assert.isUndefined(inText(link))
  })

  it("searches HTML with unclosed elements, and no hidden elements", () => {
    const inHtml = (html: string) => oneTimeCode({ subject: "Hello", text: null, html })
    assert.strictEqual(inHtml("<head><title>Code 111222</title><body>Your code is <b>204951"), "204951")
    assert.strictEqual(inHtml("<script>if (a < b) code = 111222</script>Your code is 204951"), "204951")
    assert.isUndefined(inHtml("<STYLE >code 111222"))
  })
})
