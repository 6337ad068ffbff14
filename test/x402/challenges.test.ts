import {
  challengeExtensions,
  challengeResource,
  ICON_PATH,
  inputsOf,
  type ApiOperation,
  OPERATIONS,
  operations
} from "@agentos/api"
import { isStartHere } from "@agentos/core"
import { assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { parsePaymentRequired } from "@x402/core/schemas"
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types"
import {
  type DiscoveryExtension,
  extractDiscoveryInfo,
  sanitizeResourceServiceMetadata,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec
} from "@x402/extensions/bazaar"
import { Effect, Schema } from "effect"

const PUBLIC_URL = "https://agentos.example.com"
const CAPABILITIES = { email: true, phone: true }
const STRICT = { onExcessProperty: "error" } as const
const UUID = "019AB1C0-5F3E-7CC1-8A52-3f6f0c8f2a11"
const PAID = operations.filter(({ entry }) => entry.price !== null)
const NAMED = PAID.map((operation) => [operation.name, operation] as const)

const requirements: PaymentRequirements = {
  scheme: "exact",
  network: "eip155:196",
  asset: `0x${"a".repeat(40)}`,
  amount: "1",
  payTo: `0x${"b".repeat(40)}`,
  maxTimeoutSeconds: 120,
  extra: {}
}

const bazaarOf = (operation: ApiOperation): DiscoveryExtension =>
  challengeExtensions(operation, CAPABILITIES)["bazaar"] as unknown as DiscoveryExtension

/** Returns the extension as if its example had this body. */
const withBody = (operation: ApiOperation, body: unknown): DiscoveryExtension => {
  const bazaar = bazaarOf(operation)
  return { ...bazaar, info: { ...bazaar.info, input: { ...bazaar.info.input, body } } } as DiscoveryExtension
}

// The validator warns about every format of a text.
beforeAll(() => void vi.spyOn(console, "warn").mockReturnValue())

describe("the challenge of a paid operation", () => {
  it.each(NAMED)("%s has an example that its own schemas accept", (_, operation) => {
    assert.isDefined(operation.example)
    Schema.decodeUnknownSync(operation.payload, STRICT)(operation.example?.payload)
    Schema.decodeUnknownSync(operation.data, STRICT)(operation.example?.data)
  })

  it.each(NAMED)(
    "%s can be cataloged: facilitators read the request, the response and the service from it",
    (_, operation) => {
      const bazaar = bazaarOf(operation)
      assert.deepStrictEqual(validateDiscoveryExtension(bazaar), { valid: true })
      assert.deepStrictEqual(validateDiscoveryExtensionSpec(bazaar as unknown as Record<string, unknown>), {
        valid: true
      })
      const { tags = [], ...described } = challengeResource(operation, PUBLIC_URL)
      const resource = { ...described, tags: [...tags] }
      const extensions: Record<string, unknown> = { ...challengeExtensions(operation, CAPABILITIES) }
      assert.isTrue(parsePaymentRequired({ x402Version: 2, resource, accepts: [requirements], extensions }).success)
      assert.deepStrictEqual(sanitizeResourceServiceMetadata(resource), {
        serviceName: "AgentOS",
        tags: [...tags],
        iconUrl: `${PUBLIC_URL}${ICON_PATH}`
      })
      const payload: PaymentPayload = {
        x402Version: 2,
        resource,
        accepted: requirements,
        payload: {},
        extensions
      }
      const { entry, example } = operation
      const cataloged = extractDiscoveryInfo(payload, requirements)
      assert.deepInclude(cataloged, {
        resourceUrl: `${PUBLIC_URL}${entry.path}`,
        description: entry.purpose,
        mimeType: "application/json",
        method: entry.method,
        serviceName: "AgentOS"
      })
      const { input } = cataloged?.discoveryInfo ?? {}
      assert.deepInclude(input, { bodyType: "json" })
      assert.deepPropertyVal(input, "body", example?.payload)
    }
  )

  it.each(NAMED)("%s describes the bodies that the server accepts, and no other properties", (_, operation) => {
    const inputs = inputsOf(operation)
    const bodyOf = (chosen: typeof inputs) =>
      Object.fromEntries(chosen.map(({ name, schema }) => [name, [schema["examples"]].flat()[0]]))
    for (const body of [bodyOf(inputs), bodyOf(inputs.filter(({ required }) => required))]) {
      Schema.decodeUnknownSync(operation.payload, STRICT)(body)
      assert.deepStrictEqual(validateDiscoveryExtension(withBody(operation, body)), { valid: true })
      assert.isFalse(validateDiscoveryExtension(withBody(operation, { ...body, unknown: 1 })).valid)
    }
    assert.isFalse(validateDiscoveryExtension(withBody(operation, {})).valid)
  })

  // The generator finds no email addresses and URLs.
  for (const operation of [OPERATIONS.createMailbox, OPERATIONS.updateMailbox, OPERATIONS.callOneMinute]) {
    it.effect.prop(
      `${operation.name} describes any body that the server accepts`,
      { input: operation.payload },
      ({ input }) =>
        Effect.sync(() => {
          // Ids are any text once they are decoded.
          const ids = ["mailboxId", "phoneNumberId"].filter((name) => name in input).map((name) => [name, UUID])
          const body = { ...input, ...Object.fromEntries(ids) }
          Schema.decodeUnknownSync(operation.payload, STRICT)(body)
          assert.deepStrictEqual(validateDiscoveryExtension(withBody(operation, body)), { valid: true })
        }),
      { arbitrary: { runs: 8 } }
    )
  }

  it("names every service that needs the token of a start-here payment, with its price", () => {
    const prices = Object.fromEntries(
      PAID.filter(({ entry }) => !isStartHere(entry)).map(({ entry }) => [
        entry.path.replace("/api/v1", ""),
        (Number(entry.price) / 1_000_000).toFixed(2)
      ])
    )
    assert.lengthOf(Object.keys(prices), 8)
    for (const operation of PAID) {
      const extension = challengeExtensions(operation, CAPABILITIES)["paid-services"]
      const info = { authentication: "bearer", method: "POST", basePath: "/api/v1", asset: "USDT", prices }
      assert.deepStrictEqual(
        extension,
        isStartHere(operation.entry) ? { info, schema: { type: "object" } } : undefined,
        operation.name
      )
    }
    const emailOnly = challengeExtensions(PAID[0]!, { email: true, phone: false })
    assert.notInclude(JSON.stringify(emailOnly["paid-services"]), "/phone/")
  })
})
