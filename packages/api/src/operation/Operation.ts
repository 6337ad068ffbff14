import { type CatalogEntry, type OperationName, operationEntry } from "@agentos/core"
import { Schema } from "effect"

/** An object without properties: whatever is sent is refused. */
const Nothing = Schema.Record(Schema.String, Schema.Never)

/** What an operation takes that takes nothing. Spread it, and put beside it what the operation does take. */
export const NO_INPUT = { params: Nothing, query: Nothing, payload: Nothing }

type AnyCodec = Schema.Codec<unknown, unknown>

/** The shapes of what an operation takes and gives. */
export interface OperationShape<
  Params extends AnyCodec = AnyCodec,
  Query extends AnyCodec = AnyCodec,
  Payload extends AnyCodec = AnyCodec,
  Data extends AnyCodec = AnyCodec
> {
  /** What stands in the path. */
  readonly params: Params
  readonly query: Query
  /** The JSON body. */
  readonly payload: Payload
  /** `data` of the success envelope. */
  readonly data: Data
  /** 201 where something new comes into being. */
  readonly status: 200 | 201
}

/**
 * One operation of the API as it stands on the wire: its row of the catalog, and
 * its shapes. Method, path, price and who may call come from the catalog alone.
 */
export interface Operation<
  Name extends OperationName = OperationName,
  Params extends AnyCodec = AnyCodec,
  Query extends AnyCodec = AnyCodec,
  Payload extends AnyCodec = AnyCodec,
  Data extends AnyCodec = AnyCodec
> extends OperationShape<Params, Query, Payload, Data> {
  readonly name: Name
  readonly entry: CatalogEntry
}

/** Describes an operation of the catalog. */
export const operation = <
  const Name extends OperationName,
  Params extends AnyCodec,
  Query extends AnyCodec,
  Payload extends AnyCodec,
  Data extends AnyCodec
>(
  name: Name,
  shape: OperationShape<Params, Query, Payload, Data>
): Operation<Name, Params, Query, Payload, Data> => ({ name, entry: operationEntry(name), ...shape })

/** Whether an operation takes a body. */
export const takesBody = (self: Operation): boolean => self.entry.method === "POST" && self.payload !== Nothing
