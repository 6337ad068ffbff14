import { assert, describe, it } from "@effect/vitest"
import { ClientAddress } from "@agentos/core"
import { Option } from "effect"

describe("ClientAddress", () => {
  it.each([
    ["192.0.2.7", "192.0.2.7", "192.0.2.0/24"],
    ["::ffff:192.0.2.7", "192.0.2.7", "192.0.2.0/24"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1::/48"],
    ["2001:0DB8:0001:2::9", "2001:db8:1:2::/64", "2001:db8:1::/48"],
    ["2001:db8::1:0:0:0:9", "2001:db8:0:1::/64", "2001:db8:0::/48"],
    ["2001:db8::", "2001:db8:0:0::/64", "2001:db8:0::/48"],
    ["::1", "0:0:0:0::/64", "0:0:0::/48"],
    ["fe80::1%eth0", "fe80:0:0:0::/64", "fe80:0:0::/48"],
    ["64:ff9b::192.0.2.33", "64:ff9b:0:0::/64", "64:ff9b:0::/48"],
    ["", "", ""],
    ["unknown", "unknown", "unknown"]
  ])("counts %s as client %s in network %s", (address, client, network) => {
    assert.strictEqual(ClientAddress.clientOf(address), client)
    assert.strictEqual(ClientAddress.networkOf(address), network)
  })

  it("maps the /64s of one /48 to one site, and IPv4 addresses to none", () => {
    const site = ClientAddress.siteOf("2001:db8:7:1::1")
    assert.isTrue(Option.isSome(site))
    assert.deepStrictEqual(ClientAddress.siteOf("2001:db8:7:ffff::1"), site)
    assert.notDeepEqual(ClientAddress.siteOf("2001:db8:8:1::1"), site)
    for (const address of ["198.51.100.7", "::ffff:198.51.100.7", "unknown"]) {
      assert.deepStrictEqual(ClientAddress.siteOf(address), Option.none())
    }
  })
})
