import { Effect } from "effect"
import * as Base62 from "./Base62.ts"
import * as Bytes from "./Bytes.ts"
import { Keyring } from "./Keyring.ts"
import type { Page, PageRequest, Position } from "./Page.ts"
import { invalid, type InvalidRequest } from "./ResourceError.ts"
import * as Uuid from "./Uuid.ts"

/**
 * Cursors are opaque to clients. A MAC binds them to the tenant, the list and its filter: a cursor of another list,
 * filter or tenant is refused.
 *
 * Layout (before base62): key id 1 byte, createdAt 6 bytes, id 16 bytes, MAC 16 bytes.
 */
const POSITION_LENGTH = 23
const MAC_LENGTH = 16
const LENGTH = POSITION_LENGTH + MAC_LENGTH

const scopeBytes = (scope: CursorScope): Uint8Array =>
  Bytes.fromText(JSON.stringify([scope.tenantId, scope.list, scope.filter]))

/** The scope of a cursor. `filter` must serialize to the same JSON each time and must not contain the page size. */
export interface CursorScope {
  readonly tenantId: string
  readonly list: string
  readonly filter: unknown
}

/** Returns the cursor that continues the list after `position`. */
export const encode = Effect.fnUntraced(function* (
  scope: CursorScope,
  position: Position
): Effect.fn.Return<string, never, Keyring> {
  const keyring = yield* Keyring
  const bytes = new Uint8Array(POSITION_LENGTH)
  const view = new DataView(bytes.buffer)
  bytes[0] = keyring.activeKeyId
  view.setUint16(1, Math.floor(position.createdAt / 2 ** 32))
  view.setUint32(3, position.createdAt % 2 ** 32)
  bytes.set(Uuid.toBytes(position.id), 7)
  const mac = keyring.mac(keyring.activeKeyId, "cursor", Bytes.concat(bytes, scopeBytes(scope)))
  return Base62.encode(Bytes.concat(bytes, mac!.subarray(0, MAC_LENGTH)))
})

/** Returns the position of a cursor, or fails with `InvalidRequest` if it has another tenant, list or filter. */
export const decode = Effect.fnUntraced(function* (
  scope: CursorScope,
  cursor: string
): Effect.fn.Return<Position, InvalidRequest, Keyring> {
  const keyring = yield* Keyring
  const refused = invalid("cursor", "is not valid for this list and filter. Start again without a cursor")
  const bytes = Base62.decode(cursor, LENGTH)
  if (bytes === undefined) return yield* refused
  const position = bytes.subarray(0, POSITION_LENGTH)
  const mac = keyring.mac(position[0]!, "cursor", Bytes.concat(position, scopeBytes(scope)))
  if (mac === undefined || !Bytes.equalConstantTime(mac.subarray(0, MAC_LENGTH), bytes.subarray(POSITION_LENGTH))) {
    return yield* refused
  }
  const view = new DataView(position.buffer, position.byteOffset)
  return {
    createdAt: view.getUint16(1) * 2 ** 32 + view.getUint32(3),
    id: Uuid.fromBytes(position.subarray(7))
  }
})

/**
 * Builds a page of at most `limit` rows. `found` was queried with `limit + 1`, to learn whether there is a next page.
 */
export const page = Effect.fnUntraced(function* <A>(
  scope: CursorScope,
  found: ReadonlyArray<A>,
  limit: number,
  positionOf: (item: A) => Position
): Effect.fn.Return<Page<A>, never, Keyring> {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return {
    items,
    nextCursor: found.length > limit && last !== undefined ? yield* encode(scope, positionOf(last)) : null
  }
})

/** Returns a function that reads pages of lists: `find` returns at most `count` rows after a position. */
export const reader = Effect.map(
  Keyring,
  (keyring) =>
    <A>(
      scope: CursorScope,
      { cursor, limit }: PageRequest & { readonly limit: number },
      find: (after: Position | undefined, count: number) => Effect.Effect<ReadonlyArray<A>>,
      positionOf: (item: A) => Position
    ): Effect.Effect<Page<A>, InvalidRequest> =>
      Effect.gen(function* () {
        const after = cursor === undefined ? undefined : yield* decode(scope, cursor)
        return yield* page(scope, yield* find(after, limit + 1), limit, positionOf)
      }).pipe(Effect.provideService(Keyring, keyring))
)
