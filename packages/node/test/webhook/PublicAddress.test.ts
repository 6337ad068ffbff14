import { assert, describe, it } from "@effect/vitest"
import { isPublicAddress } from "../../src/webhook/index.ts"

const refused: ReadonlyArray<readonly [what: string, addresses: ReadonlyArray<string>]> = [
  ["this host's network", ["0.0.0.0", "0.1.2.3", "::"]],
  ["loopback", ["127.0.0.1", "127.255.255.254", "::1"]],
  ["private", ["10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "fc00::1", "fdff::1"]],
  ["carriers' own (CGNAT)", ["100.64.0.1", "100.127.255.255"]],
  ["link-local", ["169.254.169.254", "fe80::1", "febf::1", "fe80::1%eth0", "2606:4700::1111%1"]],
  ["site-local", ["fec0::1"]],
  ["protocols' own", ["192.0.0.1", "192.0.0.170", "192.31.196.1", "192.52.193.1", "192.175.48.1", "2001:20::1"]],
  ["documentation", ["192.0.2.1", "198.51.100.1", "203.0.113.255", "2001:db8::1", "3fff::1"]],
  ["benchmarks", ["198.18.0.1", "198.19.255.255", "2001:2::1"]],
  ["multicast", ["224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"]],
  ["reserved and broadcast", ["240.0.0.1", "255.255.255.255", "4000::1", "e000::1", "5f00::1"]],
  ["discarded", ["100::1", "100:0:0:1::1"]],
  ["IPv4-mapped", ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:8.8.8.8", "::ffff:0:8.8.8.8"]],
  ["IPv4-compatible", ["::127.0.0.1", "::8.8.8.8"]],
  ["NAT64", ["64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::1"]],
  ["6to4 and its relays", ["2002:7f00:1::1", "2002:808:808::1", "192.88.99.1"]],
  ["Teredo", ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001::1"]],
  ["hypervisors' own", ["168.63.129.16"]],
  ["other spellings", ["127.1", "0x7f000001", "2130706433", "0177.0.0.1", "010.8.8.8", "8.8.8", "[::1]", "", "a.test"]]
]

describe("isPublicAddress", () => {
  it.each(refused)("returns false for %s", (_what, addresses) => {
    assert.deepStrictEqual(addresses.filter(isPublicAddress), [])
  })

  it("returns true for public addresses, including those next to special ranges", () => {
    const addresses = `
      1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255
      100.128.0.0 126.255.255.255 128.0.0.1 169.253.255.255 172.15.255.255
      172.32.0.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
      223.255.255.255 2606:4700:4700::1111 2001:4860:4860::8888 2001:200::1 2003::1
      3ffe:ffff::1 2a00:1450::1
    `
    assert.deepStrictEqual(
      addresses
        .trim()
        .split(/\s+/)
        .filter((address) => !isPublicAddress(address)),
      []
    )
  })
})
