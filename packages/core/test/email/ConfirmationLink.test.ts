import { assert, describe, it } from "vitest"
import { confirmationLink } from "@agentos/core"

const TOKEN = "0f4c3b2a19d8e7f6"
const CONFIRM = `https://shop.example/verify?token=${TOKEN}`

const inText = (text: string) => confirmationLink({ subject: "Welcome", text, html: null })
const inHtml = (html: string) => confirmationLink({ subject: "Welcome", text: null, html })

describe("confirmationLink", () => {
  it("finds the link of a text by its address, or by the words before it", () => {
    assert.strictEqual(inText(`Welcome! ${CONFIRM}.`), CONFIRM)
    assert.strictEqual(inText(`Confirm your address <${CONFIRM}>`), CONFIRM)
    const other = `https://shop.example/c/${TOKEN}`
    assert.strictEqual(inText(`Confirm your address:\n\n${other}\n\nHelp: https://shop.example/help/${TOKEN}`), other)
    assert.isUndefined(inText(`Read the news:\n${other}`))
  })

  it("decodes the address of an anchor", () => {
    assert.strictEqual(
      inHtml(`<a class=b href='${CONFIRM}&amp;lang=en'>Verify</a>`),
      `https://shop.example/verify?token=${TOKEN}&lang=en`
    )
    assert.strictEqual(inHtml(`<a href=${CONFIRM}>Weiter`), CONFIRM)
    assert.strictEqual(
      inHtml(`<a href="https://bücher.example/bestätigen/${TOKEN}">Bestätigen</a>`),
      `https://xn--bcher-kva.example/best%C3%A4tigen/${TOKEN}`
    )
  })

  it("returns the one whose text names its action, and none of two", () => {
    const deny = `https://shop.example/verify/deny?token=${TOKEN}`
    assert.strictEqual(inHtml(`<a href="${CONFIRM}">Verify</a> <a href="${deny}">This wasn't me</a>`), CONFIRM)
    assert.strictEqual(inHtml(`<a href="${CONFIRM}">Verify</a> <a href="${CONFIRM}">${CONFIRM}</a>`), CONFIRM)
    assert.isUndefined(inHtml(`<a href="${CONFIRM}">Verify</a> <a href="${CONFIRM}0">Confirm</a>`))
  })

  it.each([
    ["without a secret", `<a href="https://shop.example/login">Log in</a>`],
    ["of a help page", `<a href="https://shop.example/help/360012345-verify">Verify your address</a>`],
    ["that unsubscribes", `<a href="https://shop.example/unsubscribe/confirm?token=${TOKEN}">Confirm</a>`],
    ["whose text unsubscribes", `<a href="${CONFIRM}">Unsubscribe</a>`],
    ["of another scheme", `<a href="javascript:verify('${TOKEN}')">Verify</a>`],
    ["that only tracks", `<a href="https://ct.example/ls/click?upn=${TOKEN}">How to verify a photo</a>`]
  ])("does not return a link %s", (_, html) => {
    assert.isUndefined(inHtml(html))
  })
})
