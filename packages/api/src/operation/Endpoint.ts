import type { CatalogEntry, ErrorCode, OperationName } from "@agentos/core"
import type { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { ErrorEnvelope } from "../error/ErrorEnvelope.ts"
import { ERROR_STATUS, type ErrorStatus } from "../error/ErrorStatus.ts"
import { errorCodesOf } from "../error/OperationErrors.ts"
import { successEnvelope } from "../SuccessEnvelope.ts"
import { type Bytes, isBytes, type Operation } from "./Operation.ts"

type AnyCodec = Schema.Codec<unknown, unknown>

/** Returns the path of a catalog entry in router syntax: `:name` for `{name}`. */
export const routerPath = (entry: CatalogEntry): `/${string}` =>
  `/${entry.path.slice(1).replaceAll(/\{(\w+)\}/g, ":$1")}`

/** Returns the error codes of an operation by status, in ascending order. */
export const errorsByStatus = (entry: CatalogEntry): ReadonlyMap<ErrorStatus, ReadonlyArray<ErrorCode>> =>
  new Map(
    [...Map.groupBy(errorCodesOf(entry), (code) => ERROR_STATUS[code])].toSorted(([left], [right]) => left - right)
  )

const errorSchemas = (entry: CatalogEntry) =>
  [...errorsByStatus(entry).keys()].map((status) => ErrorEnvelope.pipe(HttpApiSchema.status(status)))

/** Returns the schema of a successful response: the envelope around the data, or the bytes alone. */
const successOf = <Data extends AnyCodec>(data: Data, status: 200 | 201) =>
  (isBytes(data) ? data : successEnvelope(data).pipe(HttpApiSchema.status(status))) as Data extends Bytes
    ? Bytes
    : ReturnType<typeof successEnvelope<Data>>

/** Returns the GET endpoint of an operation. */
export const getEndpoint = <
  Name extends OperationName,
  Params extends AnyCodec,
  Query extends AnyCodec,
  Payload extends AnyCodec,
  Data extends AnyCodec
>({
  data,
  entry,
  name,
  params,
  query,
  status
}: Operation<Name, Params, Query, Payload, Data>) =>
  HttpApiEndpoint.get(name, routerPath(entry), {
    params,
    query,
    success: successOf(data, status),
    error: errorSchemas(entry)
  })

/** Returns the DELETE endpoint of an operation. */
export const deleteEndpoint = <
  Name extends OperationName,
  Params extends AnyCodec,
  Query extends AnyCodec,
  Payload extends AnyCodec,
  Data extends AnyCodec
>({
  data,
  entry,
  name,
  params,
  query,
  status
}: Operation<Name, Params, Query, Payload, Data>) =>
  HttpApiEndpoint.delete(name, routerPath(entry), {
    params,
    query,
    success: successEnvelope(data).pipe(HttpApiSchema.status(status)),
    error: errorSchemas(entry)
  })

/** Returns the POST endpoint of an operation. */
export const postEndpoint = <
  Name extends OperationName,
  Params extends AnyCodec,
  Query extends AnyCodec,
  Payload extends AnyCodec,
  Data extends AnyCodec
>({
  data,
  entry,
  name,
  params,
  payload,
  query,
  status
}: Operation<Name, Params, Query, Payload, Data>) =>
  HttpApiEndpoint.post(name, routerPath(entry), {
    params,
    query,
    payload,
    success: successOf(data, status),
    error: errorSchemas(entry)
  })
