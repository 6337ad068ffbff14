import { describe, expect, it } from "vitest"
import { peerOf, SessionTable } from "../../src/listener/SessionTable.ts"

const limits = { connections: 16, connectionsPerAddress: 6, connectionsPerNetwork: 10, connectionsReserved: 4 }

/** Opens as many sessions as the table admits, up to 50. */
const fill = (table: SessionTable, address: string): number => {
  let opened = 0
  while (opened < 50 && table.enter(peerOf(address))) opened++
  return opened
}

describe("sessions", () => {
  it("are limited for each address, and for each network", () => {
    const table = new SessionTable(limits)
    expect([fill(table, "192.0.2.1"), fill(table, "192.0.2.2"), fill(table, "192.0.2.3")]).toEqual([6, 4, 0])
    const wide = new SessionTable({ ...limits, connectionsPerNetwork: 7 })
    expect(["2001:db8:1:1::1", "2001:db8:1:1::2", "2001:db8:1:2::1"].map((address) => fill(wide, address))).toEqual([
      6, 0, 1
    ])
  })

  it("leave the reserved places to networks that have few", () => {
    const table = new SessionTable(limits)
    expect(["192.0.2.1", "198.51.100.1"].map((address) => fill(table, address))).toEqual([6, 6])
    expect(["203.0.113.1", "192.0.2.2"].map((address) => fill(table, address))).toEqual([4, 0])
    expect(fill(table, "10.0.0.1")).toBe(0)
  })

  it("free their places when they end", () => {
    const table = new SessionTable(limits)
    const peer = peerOf("192.0.2.1")
    expect(fill(table, "192.0.2.1")).toBe(6)
    table.leave(peer)
    expect([table.enter(peer), table.enter(peer)]).toEqual([true, false])
  })
})
