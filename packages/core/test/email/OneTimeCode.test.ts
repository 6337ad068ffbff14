import { assert, describe, it } from "vitest"
import { oneTimeCode } from "@agentos/core"

const inText = (text: string) => oneTimeCode({ subject: "Hello", text, html: null })
const inHtml = (html: string) => oneTimeCode({ subject: "Hello", text: null, html })

describe("oneTimeCode", () => {
  it.each([
    ["Your verification code is 482913. It expires in 10 minutes.", "482913"],
    ["Your verification code is 482 913.", "482913"],
    ["Use 7312 as your PIN.", "7312"],
    ["G-551204 is your Google verification code.", "551204"],
    ["Enter this code:\n\n    A1B2C3\n\nIt is good for 5 minutes.", "A1B2C3"],
    ["Sign in to continue.\n\n83920156\n\nBye.", "83920156"],
    ["Your code: 123-456", "123456"],
    ["Your code:\n\n7 3 9 2 0 4\n\nCopyright 2026", "739204"],
    ["Your code:\n4\n8\n2\n9\n1\n3", "482913"],
    ["Your sign-in code is listed below.\n\nWDJB-MJHT", "WDJBMJHT"],
    ["認証コード：４８２９１３", "482913"],
    ["رمز التحقق الخاص بك هو ٤٨٢٩١٣", "482913"],
    ["482913 ist dein Instagram-Code", "482913"],
    ["Geben Sie folgenden Code ein: 48 29 13", "482913"],
    ["Twój kod weryfikacyjny to 482913", "482913"],
    ["482913 doğrulama kodunu girin.", "482913"],
    ["El teu codi de verificació és 482913", "482913"],
    ["Ваш код за потврду је 482913", "482913"],
    ["آپ کا تصدیقی کوڈ 482913 ہے", "482913"],
    ["Your code: 482–913", "482913"],
    ["Ditt engångslösenord är 482913", "482913"],
    ["Jouw code: 482913", "482913"],
    ["Your Apple Account code is: 771122. Don't share it with anyone.", "771122"]
  ])("finds in %j: %s", (text, code) => {
    assert.strictEqual(inText(text), code)
  })

  it.each([
    ["Your invoice of $1250.00 from 2026-01-31 is paid."],
    ["Security notice: we meet at 12:30 in room B."],
    ["The password was changed. Call +1 415 555 0100."],
    ["Order #123456 is on its way."],
    ["Use code SAVE20 at checkout."],
    ["Error code: 50012"],
    ["> Your verification code is 482913."],
    ["Confirm <https://mail.example/open?code=111222>"],
    ["Verify your sign-in: mail.example/verify?code=482913"],
    ["Your account code: 482913"],
    ["Verification code: XXXXXX"],
    [""]
  ])("finds nothing in %j", (text) => {
    assert.isUndefined(inText(text))
  })

  it("returns none of two codes that are as likely", () => {
    assert.isUndefined(inText("Your old code is 111222. Your new code is 333444."))
    assert.isUndefined(oneTimeCode({ subject: "Your code is 111222", text: "Your code is 333444", html: null }))
    assert.isUndefined(inText("Your codes:\n\n48219377\n10293847\n55667788"))
  })

  it("reads the subject with the text, and the HTML only without a code in them", () => {
    const html = "<style>p{color:#123456}</style><p>Your code</p><p><b>771&#8203;</b></p><td>204951</td>"
    assert.strictEqual(oneTimeCode({ subject: "Your code is 111222", text: "Sign in.", html }), "111222")
    assert.strictEqual(oneTimeCode({ subject: "Sign in", text: "Read the HTML.", html }), "204951")
  })

  it("reads HTML with unclosed elements, one digit in each cell and references to characters", () => {
    assert.strictEqual(inHtml("<head><title>Code 111222</title><body>Your code is <b>204951"), "204951")
    assert.strictEqual(inHtml("<script>if (a < b) code = 111222</script>Your code is 204951"), "204951")
    assert.isUndefined(inHtml("<STYLE >code 111222"))
    assert.strictEqual(inHtml(`Your code<table><tr>${"204951".replaceAll(/./g, "<td>\n$&</td>\n")}</table>`), "204951")
    assert.strictEqual(inHtml("Votre code de v&eacute;rification&nbsp;: 204&#160;951"), "204951")
  })
})
