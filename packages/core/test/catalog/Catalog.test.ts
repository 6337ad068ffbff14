import { CATALOG, findService, isMarketplaceListing, isStartHere, SERVICES, ServiceId, Usdt } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"

/** The specification's table, restated: service id, method and path, price, authentication. */
const TABLE = `
discovery.api|GET /api/v1|free|none
discovery.services|GET /api/v1/services|free|none
|GET /api/v1/services/{serviceId}|free|none
email.mailbox.create|POST /api/v1/email/mailboxes|0.25|x402-bootstrap
email.mailbox.list|GET /api/v1/email/mailboxes/query|free|bearer
email.mailbox.update|POST /api/v1/email/mailboxes/update|0.01|bearer
email.mailbox.delete|POST /api/v1/email/mailboxes/delete|0.01|bearer
email.message.send|POST /api/v1/email/messages/send|0.02|bearer
email.message.query|GET /api/v1/email/messages/query|free|bearer
phone.number.us.30d|POST /api/v1/phone/purchase-us-number-30-days|5.00|x402-bootstrap
phone.number.ca.30d|POST /api/v1/phone/purchase-canada-number-30-days|5.00|x402-bootstrap
phone.number.renew.30d|POST /api/v1/phone/renew-number-30-days|5.00|bearer
phone.call.outbound.1m|POST /api/v1/phone/call-1-minute|0.30|bearer
phone.call.outbound.5m|POST /api/v1/phone/call-5-minutes|1.50|bearer
phone.call.extend.1m|POST /api/v1/phone/extend-call-1-minute|0.30|bearer
phone.call.inbound.add.10m|POST /api/v1/phone/add-inbound-minutes-10|3.00|bearer
phone.number.release|POST /api/v1/phone/release-number|free|bearer
phone.number.list|GET /api/v1/phone/numbers|free|bearer
phone.call.get|GET /api/v1/phone/calls/{callId}|free|bearer
phone.call.transcript|GET /api/v1/phone/calls/{callId}/transcript|free|bearer
events.realtime-token|GET /api/v1/events/realtime-token|free|bearer
events.list|POST /api/v1/events/list|free|bearer
events.get|POST /api/v1/events/get|free|bearer
events.ack|POST /api/v1/events/ack|free|bearer
events.ack-all|POST /api/v1/events/ack-all|free|bearer
|GET /api/v1/events|free|bearer
|POST /api/v1/events/{eventId}/acknowledge|free|bearer
domain.register|POST /api/v1/domains/register|free|unavailable
`
  .trim()
  .split("\n")

describe("Catalog", () => {
  it("begins with the specification's table, row by row", () => {
    const specified = CATALOG.slice(0, TABLE.length)
    const rows = specified.map(({ authentication, method, path, price, serviceId }) =>
      [serviceId ?? "", `${method} ${path}`, price === null ? "free" : Usdt.toDecimal(price), authentication].join("|")
    )
    assert.deepStrictEqual(rows, TABLE)
    assert.isTrue(specified.every(({ extension }) => extension === undefined))
  })

  it("marks all other operations as extensions", () => {
    assert.lengthOf(TABLE, 28)
    assert.isTrue(CATALOG.slice(TABLE.length).every(({ extension }) => extension === true))
  })

  it("has 25 services in the specification, each id once, and names every operation once", () => {
    assert.deepStrictEqual(
      SERVICES.map(({ serviceId }) => serviceId),
      SERVICES.map(({ serviceId }) => serviceId).filter((id, index, all) => all.indexOf(id) === index)
    )
    assert.sameMembers(
      [...ServiceId.literals],
      SERVICES.map(({ serviceId }) => serviceId)
    )
    assert.lengthOf(
      SERVICES.filter(({ extension }) => extension === undefined),
      25
    )
    assert.lengthOf(new Set(CATALOG.map(({ operationId }) => operationId)), CATALOG.length)
    assert.isUndefined(findService("email.mailbox"))
  })

  it("starts with three services and lists the paid services that are available", () => {
    assert.deepStrictEqual(
      SERVICES.filter(isStartHere).map(({ serviceId }) => serviceId),
      ["email.mailbox.create", "phone.number.us.30d", "phone.number.ca.30d"]
    )
    assert.lengthOf(
      SERVICES.filter((entry) => isMarketplaceListing(entry, true)),
      11
    )
    assert.lengthOf(
      SERVICES.filter((entry) => isMarketplaceListing(entry, false)),
      0
    )
  })
})
