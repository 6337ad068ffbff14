// Generated from the OpenAPI document by `npx -y pnpm@12 --filter @agentos/client generate`.
export interface components {
    schemas: {
        RealtimeClientMessage: components["schemas"]["SessionAuthenticate"] | components["schemas"]["EventAcknowledge"] | components["schemas"]["CallReply"];
        RealtimeServerMessage: components["schemas"]["SessionReady"] | components["schemas"]["EventDelivery"] | components["schemas"]["EventObserved"] | components["schemas"]["SessionReplayComplete"] | components["schemas"]["EventAcknowledged"] | components["schemas"]["EventAcknowledgementStale"] | components["schemas"]["CallTurn"] | components["schemas"]["CallInterrupted"] | components["schemas"]["RealtimeError"];
        RealtimeError: {
            type: "error";
            code: "INVALID_REQUEST" | "AUTH_REQUIRED" | "INVALID_TOKEN" | "PAYMENT_REQUIRED" | "FORBIDDEN" | "RESOURCE_NOT_OWNED" | "RESOURCE_NOT_FOUND" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYMENT_PENDING" | "ALLOWANCE_EXHAUSTED" | "NUMBER_EXPIRING" | "NUMBER_RELEASED" | "PAYLOAD_TOO_LARGE" | "URI_TOO_LONG" | "UNSUPPORTED_MEDIA_TYPE" | "UPGRADE_REQUIRED" | "ONBOARDING_REQUIRED" | "RATE_LIMITED" | "HEADERS_TOO_LARGE" | "INTERNAL_ERROR" | "PROVIDER_TEMPORARY_FAILURE" | "PROVIDER_REJECTED" | "SERVICE_UNAVAILABLE";
            message: string;
        };
        CallInterrupted: {
            type: "call.interrupted";
            callId: string;
            turnId: string;
        };
        CallTurn: {
            type: "call.turn";
            callId: string;
            turnId: string;
            phoneNumberId: string;
            direction: "inbound" | "outbound";
            from: string;
            to: string;
            turn: {
                text: string;
                at: string;
            };
            transcriptSoFar: {
                role: "agent" | "caller" | "system";
                text: string;
                at: string;
            }[];
        };
        EventAcknowledgementStale: {
            type: "event.ack_stale";
            eventId: string;
            reason?: "lease_lost" | "expired";
        };
        EventAcknowledged: {
            type: "event.acknowledged";
            eventId: string;
        };
        SessionReplayComplete: {
            type: "session.replay.complete";
            delivered: number;
        };
        EventObserved: {
            type: "event.observed";
            event: components["schemas"]["EventRecord"];
        };
        EventRecord: components["schemas"]["EmailReceivedEvent"] | components["schemas"]["PhoneCallStartedEvent"] | components["schemas"]["PhoneCallEndedEvent"] | components["schemas"]["PhoneNumberExpiringEvent"] | components["schemas"]["PhoneNumberRenewedEvent"] | components["schemas"]["PhoneNumberReleasedEvent"] | components["schemas"]["PhoneNumberSuspendedEvent"] | components["schemas"]["PhoneNumberReconciledEvent"] | components["schemas"]["PaymentCompletedEvent"] | components["schemas"]["PaymentFailedEvent"] | components["schemas"]["PaymentRefundedEvent"] | components["schemas"]["EventsWebhookPausedEvent"];
        EventsWebhookPausedEvent: {
            eventId: string;
            type: "events.webhook.paused";
            status: "pending" | "delivered" | "acknowledged" | "expired" | "failed";
            source: string;
            service: string;
            resourceId: string;
            agentId: string;
            createdAt: string;
            deliveredAt: string | null;
            acknowledgedAt: string | null;
            expiresAt: string;
            deliveryCount: number;
            payload: components["schemas"]["EventsWebhookPausedPayload"];
        };
        EventsWebhookPausedPayload: {
            type: "events.webhook.paused";
            eventId: string;
            webhookId: string;
            url: string;
            pausedAt: string;
            undeliveredEventId: string;
            error: string;
        };
        PaymentRefundedEvent: {
            eventId: string;
            type: "payment.refunded";
            status: "pending" | "delivered" | "acknowledged" | "expired" | "failed";
            source: string;
            service: string;
            resourceId: string;
            agentId: string;
            createdAt: string;
            deliveredAt: string | null;
            acknowledgedAt: string | null;
            expiresAt: string;
            deliveryCount: number;
            payload: components["schemas"]["PaymentRefundedPayload"];
        };
        PaymentRefundedPayload: {
            type: "payment.refunded";
            eventId: string;
            operationId: string;
            serviceId: "discovery.api" | "discovery.services" | "email.mailbox.create" | "email.mailbox.list" | "email.mailbox.update" | "email.mailbox.delete" | "email.message.send" | "email.message.query" | "phone.number.us.30d" | "phone.number.ca.30d" | "phone.number.renew.30d" | "phone.call.outbound.1m" | "phone.call.outbound.5m" | "phone.call.extend.1m" | "phone.call.inbound.add.10m" | "phone.number.release" | "phone.number.list" | "phone.call.get" | "phone.call.transcript" | "events.realtime-token" | "events.list" | "events.get" | "events.ack" | "events.ack-all" | "domain.register" | "auth.token" | "auth.revoke" | "phone.call.list" | "phone.voice.list" | "events.webhook.set" | "events.webhook.get" | "events.webhook.delete" | "events.webhook.deliveries" | "email.message.attachment" | "email.message.raw" | "payment.status" | "payment.get";
            endpoint: string;
            requestId: string;
            price?: components["schemas"]["Price"];
            baseUnits: string;
            network: string;
            token: string;
            payer: string;
            payTo: string;
            transaction: string | null;
            paymentState: "none" | "pending" | "settled" | "refund_due" | "refunded" | "unknown";
            amount?: components["schemas"]["Price"];
            paymentTransaction: string | null;
        };
        Price: {
            amount: string;
            asset: "USDT";
        };
        PaymentFailedEvent: {
            eventId: string;
            type: "payment.failed";
            status: "pending" | "delivered" | "acknowledged" | "expired" | "failed";
            source: string;
            service: string;
            resourceId: string;
            agentId: string;
            createdAt: string;
            deliveredAt: string | null;
            acknowledgedAt: string | null;
            expiresAt: string;
            deliveryCount: number;
            payload: components["schemas"]["PaymentFailedPayload"];
        };
        PaymentFailedPayload: {
            type: "payment.failed";
            eventId: string;
            operationId: string;
            serviceId: "discovery.api" | "discovery.services" | "email.mailbox.create" | "email.mailbox.list" | "email.mailbox.update" | "email.mailbox.delete" | "email.message.send" | "email.message.query" | "phone.number.us.30d" | "phone.number.ca.30d" | "phone.number.renew.30d" | "phone.call.outbound.1m" | "phone.call.outbound.5m" | "phone.call.extend.1m" | "phone.call.inbound.add.10m" | "phone.number.release" | "phone.number.list" | "phone.call.get" | "phone.call.transcript" | "events.realtime-token" | "events.list" | "events.get" | "events.ack" | "events.ack-all" | "domain.register" | "auth.token" | "auth.revoke" | "phone.call.list" | "phone.voice.list" | "events.webhook.set" | "events.webhook.get" | "events.webhook.delete" | "events.webhook.deliveries" | "email.message.attachment" | "email.message.raw" | "payment.status" | "payment.get";
            endpoint: string;
            requestId: string;
            price?: components["schemas"]["Price"];
            baseUnits: string;
            network: string;
            token: string;
            payer: string;
            payTo: string;
            transaction: string | null;
            paymentState: "none" | "pending" | "settled" | "refund_due" | "refunded" | "unknown";
            reason: {
                kind: "used_before" | "settled_elsewhere" | "refused" | "expired" | "used_otherwise" | "rejected" | "gone" | "late";
                message: string;
            } | null;
        };
        PaymentCompletedEvent: {
            eventId: string;
            type: "payment.completed";
            status: "pending" | "delivered" | "acknowledged" | "expired" | "failed";
            source: string;
            service: string;
            resourceId: string;
            agentId: string;
            createdAt: string;
            deliveredAt: string | null;
            acknowledgedAt: string | null;
            expiresAt: string;
            deliveryCount: number;
            payload: components["schemas"]["PaymentCompletedPayload"];
        };
        PaymentCompletedPayload: {
            type: "payment.completed";
            eventId: string;
            operationId: string;
            serviceId: "discovery.api" | "discovery.services" | "email.mailbox.create" | "email.mailbox.list" | "email.mailbox.update" | "email.mailbox.delete" | "email.message.send" | "email.message.query" | "phone.number.us.30d" | "phone.number.ca.30d" | "phone.number.renew.30d" | "phone.call.outbound.1m" | "phone.call.outbound.5m" | "phone.call.extend.1m" | "phone.call.inbound.add.10m" | "phone.number.release" | "phone.number.list" | "phone.call.get" | "phone.call.transcript" | "events.realtime-token" | "events.list" | "events.get" | "events.ack" | "events.ack-all" | "domain.register" | "auth.token" | "auth.revoke" | "phone.call.list" | "phone.voice.list" | "events.webhook.set" | "events.webhook.get" | "events.webhook.delete" | "events.webhook.deliveries" | "email.message.attachment" | "email.message.raw" | "payment.status" | "payment.get";
            endpoint: string;
            requestId: string;
            price?: components["schemas"]["Price"];
            baseUnits: string;
            network: string;
            token: string;
            payer: string;
            payTo: string;
            transaction: string | null;
            paymentState: "none" | "pending" | "settled" | "refund_due" | "refunded" | "unknown";
        };
        PhoneNumberReconciledEvent: {
            eventId: string;
            type: "phone.number.reconciled";
            status: "pending" | "delivered" | "acknowledged" | "expired" | "failed";
            source: string;
            service: string;
            resourceId: string;
            agentId: string;
            createdAt: string;
            deliveredAt: string | null;
            acknowledgedAt: string | null;
            expiresAt: string;
            deliveryCount: number;
            payload: components["schemas"]["PhoneNumberReconciledPayload"];
        };
        PhoneNumberReconciledPayload: {
            type: "phone.number.reconciled";
            eventId: string;
            phoneNumberId: string;
            number: string;
            finding: string;
            releasedAt: string | null;
        };
        PhoneNumberSuspendedEvent: {
            eventId: string;
            type: "phone.number.suspended";
            status: "pending" | "delivered" | "acknowledged" | "expired" | "failed";
            source: string;
            service: string;
            resourceId: string;
            agentId: string;
            createdAt: string;
            deliveredAt: string | null;
            acknowledgedAt: string | null;
            expiresAt: string;
            deliveryCount: number;
            payload: components["schemas"]["PhoneNumberSuspendedPayload"];
        };
        PhoneNumberSuspendedPayload: {
            type: "phone.number.suspended";
            eventId: string;
            phoneNumberId: string;
            number: string;
            expiresAt: string;
        };
        PhoneNumberReleasedEvent: {
            eventId: string;
            type: "phone.number.released";
            status: "pending" | "delivered" | "acknowledged" | "expired" | "failed";
            source: string;
            service: string;
            resourceId: string;
            agentId: string;
            createdAt: string;
            deliveredAt: string | null;
            acknowledgedAt: string | null;
            expiresAt: string;
            deliveryCount: number;
            payload: components["schemas"]["PhoneNumberReleasedPayload"];
        };
        PhoneNumberReleasedPayload: {
            type: "phone.number.released";
            eventId: string;
            phoneNumberId: string;
            number: string;
            /** @enum {string|null} */
            reason: "expired" | "release_requested" | null;
            releasedAt: string | null;
        };
        PhoneNumberRenewedEvent: {
            eventId: string;
            type: "phone.number.renewed";
            status: "pending" | "delivered" | "acknowledged" | "expired" | "failed";
            source: string;
            service: string;
            resourceId: string;
            agentId: string;
            createdAt: string;
            deliveredAt: string | null;
            acknowledgedAt: string | null;
            expiresAt: string;
            deliveryCount: number;
            payload: components["schemas"]["PhoneNumberRenewedPayload"];
        };
        PhoneNumberRenewedPayload: {
            type: "phone.number.renewed";
            eventId: string;
            phoneNumberId: string;
            number: string;
            expiresAt: string;
            operationId: string;
        };
        PhoneNumberExpiringEvent: {
            eventId: string;
            type: "phone.number.expiring";
            status: "pending" | "delivered" | "acknowledged" | "expired" | "failed";
            source: string;
            service: string;
            resourceId: string;
            agentId: string;
            createdAt: string;
            deliveredAt: string | null;
            acknowledgedAt: string | null;
            expiresAt: string;
            deliveryCount: number;
            payload: components["schemas"]["PhoneNumberExpiringPayload"];
        };
        PhoneNumberExpiringPayload: {
            type: "phone.number.expiring";
            eventId: string;
            phoneNumberId: string;
            number: string;
            daysBefore: 5 | 3 | 1;
            expiresAt: string;
            renewalDeadline: string;
            price: components["schemas"]["Price"] | null;
            renewalEndpoint: {
                method: "GET" | "POST" | "DELETE";
                path: string;
            };
            requestBody: {
                phoneNumberId: string;
            };
            releaseWarning: string;
        };
        PhoneCallEndedEvent: {
            eventId: string;
            type: "phone.call.ended";
            status: "pending" | "delivered" | "acknowledged" | "expired" | "failed";
            source: string;
            service: string;
            resourceId: string;
            agentId: string;
            createdAt: string;
            deliveredAt: string | null;
            acknowledgedAt: string | null;
            expiresAt: string;
            deliveryCount: number;
            payload: components["schemas"]["PhoneCallEndedPayload"];
        };
        PhoneCallEndedPayload: {
            type: "phone.call.ended";
            eventId: string;
            callId: string;
            phoneNumberId: string;
            direction: "inbound" | "outbound";
            fromNumber: string;
            toNumber: string;
            /** @enum {string|null} */
            endReason: "completed" | "hangup_agent" | "time_limit" | "no_answer" | "busy" | "failed" | "allowance_exhausted" | null;
            connectedSeconds: number;
            answeredAt: string | null;
            endedAt: string | null;
            declinedCalls?: number;
        };
        PhoneCallStartedEvent: {
            eventId: string;
            type: "phone.call.started";
            status: "pending" | "delivered" | "acknowledged" | "expired" | "failed";
            source: string;
            service: string;
            resourceId: string;
            agentId: string;
            createdAt: string;
            deliveredAt: string | null;
            acknowledgedAt: string | null;
            expiresAt: string;
            deliveryCount: number;
            payload: components["schemas"]["PhoneCallStartedPayload"];
        };
        PhoneCallStartedPayload: {
            type: "phone.call.started";
            eventId: string;
            callId: string;
            phoneNumberId: string;
            direction: "inbound" | "outbound";
            fromNumber: string;
            toNumber: string;
            answeredAt: string | null;
        };
        EmailReceivedEvent: {
            eventId: string;
            type: "email.received";
            status: "pending" | "delivered" | "acknowledged" | "expired" | "failed";
            source: string;
            service: string;
            resourceId: string;
            agentId: string;
            createdAt: string;
            deliveredAt: string | null;
            acknowledgedAt: string | null;
            expiresAt: string;
            deliveryCount: number;
            payload: components["schemas"]["EmailReceivedPayload"];
        };
        EmailReceivedPayload: {
            type: "email.received";
            eventId: string;
            mailboxId: string;
            emailId: string;
            from: string;
            subject: string;
            authentication: components["schemas"]["SenderAuthentication"] | null;
            receivedAt: string;
        };
        SenderAuthentication: {
            spf: string;
            dkim: string;
            dmarc: string;
            domain: string | null;
        };
        EventDelivery: {
            type: "event.delivery";
            deliveryId: string;
            event: components["schemas"]["EventRecord"];
        };
        SessionReady: {
            type: "session.ready";
            sessionId: string;
            leaseSeconds: number;
            maxInFlight: number;
            pending: number;
        };
        CallReply: {
            type: "call.reply";
            callId: string;
            turnId: string;
            text?: string;
            hangup?: boolean;
            more?: boolean;
        };
        EventAcknowledge: {
            type: "event.ack";
            eventId: string;
            deliveryId?: string;
        };
        SessionAuthenticate: {
            type: "session.authenticate";
            token: string;
            mode?: "deliver" | "observe" | "voice";
        };
        Error: {
            error: {
                code: "INVALID_REQUEST" | "AUTH_REQUIRED" | "INVALID_TOKEN" | "PAYMENT_REQUIRED" | "FORBIDDEN" | "RESOURCE_NOT_OWNED" | "RESOURCE_NOT_FOUND" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYMENT_PENDING" | "ALLOWANCE_EXHAUSTED" | "NUMBER_EXPIRING" | "NUMBER_RELEASED" | "PAYLOAD_TOO_LARGE" | "URI_TOO_LONG" | "UNSUPPORTED_MEDIA_TYPE" | "UPGRADE_REQUIRED" | "ONBOARDING_REQUIRED" | "RATE_LIMITED" | "HEADERS_TOO_LARGE" | "INTERNAL_ERROR" | "PROVIDER_TEMPORARY_FAILURE" | "PROVIDER_REJECTED" | "SERVICE_UNAVAILABLE";
                message: string;
                requestId: string;
                retryable: boolean;
                paymentState?: "none" | "pending" | "settled" | "refund_due" | "refunded" | "unknown";
                next?: components["schemas"]["NextCall"];
                issues?: components["schemas"]["Issue"][];
                onboarding?: components["schemas"]["Onboarding"];
            };
            guides: components["schemas"]["Guides"];
        };
        Guides: {
            llms: string;
            serviceCatalog: string;
            openapi: string;
        };
        Onboarding: {
            serviceId: "discovery.api" | "discovery.services" | "email.mailbox.create" | "email.mailbox.list" | "email.mailbox.update" | "email.mailbox.delete" | "email.message.send" | "email.message.query" | "phone.number.us.30d" | "phone.number.ca.30d" | "phone.number.renew.30d" | "phone.call.outbound.1m" | "phone.call.outbound.5m" | "phone.call.extend.1m" | "phone.call.inbound.add.10m" | "phone.number.release" | "phone.number.list" | "phone.call.get" | "phone.call.transcript" | "events.realtime-token" | "events.list" | "events.get" | "events.ack" | "events.ack-all" | "domain.register" | "auth.token" | "auth.revoke" | "phone.call.list" | "phone.voice.list" | "events.webhook.set" | "events.webhook.get" | "events.webhook.delete" | "events.webhook.deliveries" | "email.message.attachment" | "email.message.raw" | "payment.status" | "payment.get";
            method: "GET" | "POST";
            endpoint: string;
            price: components["schemas"]["Price"];
            requiredInput: {
                name: string;
                description: string;
            }[];
        };
        Issue: {
            path: string;
            message: string;
        };
        NextCall: {
            method: "GET" | "POST" | "DELETE";
            path: string;
            body?: Record<string, unknown>;
        };
        PaymentStatus: {
            operationId: string | null;
            /** @enum {string|null} */
            serviceId: "discovery.api" | "discovery.services" | "email.mailbox.create" | "email.mailbox.list" | "email.mailbox.update" | "email.mailbox.delete" | "email.message.send" | "email.message.query" | "phone.number.us.30d" | "phone.number.ca.30d" | "phone.number.renew.30d" | "phone.call.outbound.1m" | "phone.call.outbound.5m" | "phone.call.extend.1m" | "phone.call.inbound.add.10m" | "phone.number.release" | "phone.number.list" | "phone.call.get" | "phone.call.transcript" | "events.realtime-token" | "events.list" | "events.get" | "events.ack" | "events.ack-all" | "domain.register" | "auth.token" | "auth.revoke" | "phone.call.list" | "phone.voice.list" | "events.webhook.set" | "events.webhook.get" | "events.webhook.delete" | "events.webhook.deliveries" | "email.message.attachment" | "email.message.raw" | "payment.status" | "payment.get" | null;
            paymentState: "none" | "pending" | "settled" | "refund_due" | "refunded" | "unknown";
            network: string;
            asset: string;
            amount: string;
            transaction: string | null;
            refund: {
                transaction: string;
            } | null;
            reason: {
                kind: "used_before" | "settled_elsewhere" | "refused" | "expired" | "used_otherwise" | "rejected" | "gone" | "late";
                message: string;
            } | null;
            receipt: string | null;
            createdAt: string | null;
            updatedAt: string | null;
            advice: "pay" | "retry_same" | "wait" | "done";
            retryAfterSeconds?: number;
        };
        WebhookDelivery: {
            deliveryId: string;
            eventId: string;
            type: "email.received" | "phone.call.started" | "phone.call.ended" | "phone.number.expiring" | "phone.number.renewed" | "phone.number.released" | "phone.number.suspended" | "phone.number.reconciled" | "payment.completed" | "payment.failed" | "payment.refunded" | "events.webhook.paused";
            attempt: number;
            createdAt: string;
            durationMillis: number;
            outcome: "succeeded" | "failed";
            responseStatus: number | null;
            error: string | null;
            nextAttemptAt: string | null;
        };
        EventWebhook: {
            webhookId: string;
            url: string;
            types: ("email.received" | "phone.call.started" | "phone.call.ended" | "phone.number.expiring" | "phone.number.renewed" | "phone.number.released" | "phone.number.suspended" | "phone.number.reconciled" | "payment.completed" | "payment.failed" | "payment.refunded" | "events.webhook.paused")[] | null;
            status: "active" | "paused";
            previousSecretValidUntil: string | null;
            createdAt: string;
            updatedAt: string;
            pausedAt: string | null;
        };
        SetEventWebhookInput: {
            url: string;
            types?: ("email.received" | "phone.call.started" | "phone.call.ended" | "phone.number.expiring" | "phone.number.renewed" | "phone.number.released" | "phone.number.suspended" | "phone.number.reconciled" | "payment.completed" | "payment.failed" | "payment.refunded" | "events.webhook.paused")[];
        };
        AcknowledgeAllInput: {
            before: string;
            types?: string[];
            service?: string;
        };
        EventIdInput: {
            eventId: string;
        };
        ListEventsInput: {
            status?: "pending" | "delivered" | "acknowledged" | "expired" | "failed";
            types?: string[];
            agentId?: string;
            service?: string;
            resourceId?: string;
            from?: string;
            to?: string;
            limit?: number;
            cursor?: string;
        };
        Voice: {
            voice: string;
            language: string;
            vendor: string;
        };
        Call: {
            callId: string;
            phoneNumberId: string;
            direction: "inbound" | "outbound";
            fromNumber: string;
            toNumber: string;
            status: "queued" | "ringing" | "in_progress" | "ended";
            /** @enum {string|null} */
            endReason: "completed" | "hangup_agent" | "time_limit" | "no_answer" | "busy" | "failed" | "allowance_exhausted" | null;
            authorizedSeconds: number;
            connectedSeconds: number;
            createdAt: string;
            answeredAt: string | null;
            endedAt: string | null;
        };
        Transcript: {
            callId: string;
            complete: boolean;
            turns: {
                role: "agent" | "caller" | "system";
                text: string;
                at: string;
            }[];
        };
        PhoneNumber: {
            phoneNumberId: string;
            agentId: string;
            number: string;
            country: "US" | "CA";
            agentName: string;
            agentWebhookUrl: string;
            description: string | null;
            beginMessage: string | null;
            voice: string | null;
            language: string | null;
            status: "active" | "expiring" | "suspended" | "released";
            entitlement: {
                startedAt: string;
                expiresAt: string;
                secondsRemaining: number;
            };
            inboundAllowance: {
                purchasedSeconds: number;
                usedSeconds: number;
                remainingSeconds: number;
            };
            createdAt: string;
            releasedAt: string | null;
        };
        ReleaseNumberInput: {
            phoneNumberId: string;
            confirmRelease: true;
        };
        NumberIdInput: {
            phoneNumberId: string;
        };
        CallIdInput: {
            callId: string;
        };
        PlaceCallInput: {
            phoneNumberId: string;
            toNumber: string;
            initialGreeting?: string;
        };
        PurchaseNumberInput: {
            agentName: string;
            agentWebhookUrl: string;
            areaCode?: string;
            description?: string;
            beginMessage?: string;
            voice?: string;
            language?: string;
        };
        SingleMessage: {
            message: components["schemas"]["Message"];
        };
        Message: {
            messageId: string;
            threadId: string;
            mailboxId: string;
            direction: "inbound" | "outbound";
            from: string;
            sender: {
                address: string;
                name: string | null;
            };
            to: string[];
            cc: string[];
            bcc: string[];
            subject: string;
            snippet: string;
            messageIdHeader: string | null;
            inReplyTo: string | null;
            references: string[];
            attachments: {
                attachmentId: string;
                filename: string | null;
                contentType: string;
                sizeBytes: number;
                sha256: string;
            }[];
            authentication: components["schemas"]["SenderAuthentication"] | null;
            malformed: boolean;
            truncated: boolean;
            status: "received" | "queued" | "sent" | "delivered" | "bounced" | "complained" | "failed";
            recipients: {
                address: string;
                name: string | null;
                kind: "to" | "cc" | "bcc";
                status: "received" | "queued" | "sent" | "delivered" | "bounced" | "complained" | "failed";
                reason: string | null;
            }[];
            createdAt: string;
            text: string | null;
            html: string | null;
            extractedText: string | null;
        };
        MessagePage: {
            items: components["schemas"]["MessageSummary"][];
            nextCursor: string | null;
        };
        MessageSummary: {
            messageId: string;
            threadId: string;
            mailboxId: string;
            direction: "inbound" | "outbound";
            from: string;
            sender: {
                address: string;
                name: string | null;
            };
            to: string[];
            cc: string[];
            bcc: string[];
            subject: string;
            snippet: string;
            messageIdHeader: string | null;
            inReplyTo: string | null;
            references: string[];
            attachments: {
                attachmentId: string;
                filename: string | null;
                contentType: string;
                sizeBytes: number;
                sha256: string;
            }[];
            authentication: components["schemas"]["SenderAuthentication"] | null;
            malformed: boolean;
            truncated: boolean;
            status: "received" | "queued" | "sent" | "delivered" | "bounced" | "complained" | "failed";
            recipients: {
                address: string;
                name: string | null;
                kind: "to" | "cc" | "bcc";
                status: "received" | "queued" | "sent" | "delivered" | "bounced" | "complained" | "failed";
                reason: string | null;
            }[];
            createdAt: string;
        };
        SendMessageInput: {
            mailboxId: string;
            to: string[];
            cc?: string[];
            bcc?: string[];
            subject: string;
            text: string;
            html?: string;
            inReplyTo?: string;
            attachments?: {
                filename: string;
                contentType: string;
                contentBase64: string;
            }[];
        };
        DeleteMailboxInput: {
            mailboxId: string;
        };
        Mailbox: {
            mailboxId: string;
            address: string;
            localPart: string;
            displayName: string | null;
            outboundSignature: string | null;
            active: boolean;
            senderPolicy: components["schemas"]["SenderPolicy"];
            createdAt: string;
            updatedAt: string;
        };
        SenderPolicy: {
            mode: "anyone" | "authenticated" | "listed";
            allow: string[];
            block: string[];
        };
        UpdateMailboxInput: {
            mailboxId: string;
            displayName?: string;
            outboundSignature?: string;
            active?: boolean;
            senderPolicy?: {
                mode?: "anyone" | "authenticated" | "listed";
                allow?: string[];
                block?: string[];
            };
        };
        CreateMailboxInput: {
            localPart: string;
            displayName?: string;
            outboundSignature?: string;
            senderPolicy?: {
                mode?: "anyone" | "authenticated" | "listed";
                allow?: string[];
                block?: string[];
            };
        };
        Service: {
            serviceId: "discovery.api" | "discovery.services" | "email.mailbox.create" | "email.mailbox.list" | "email.mailbox.update" | "email.mailbox.delete" | "email.message.send" | "email.message.query" | "phone.number.us.30d" | "phone.number.ca.30d" | "phone.number.renew.30d" | "phone.call.outbound.1m" | "phone.call.outbound.5m" | "phone.call.extend.1m" | "phone.call.inbound.add.10m" | "phone.number.release" | "phone.number.list" | "phone.call.get" | "phone.call.transcript" | "events.realtime-token" | "events.list" | "events.get" | "events.ack" | "events.ack-all" | "domain.register" | "auth.token" | "auth.revoke" | "phone.call.list" | "phone.voice.list" | "events.webhook.set" | "events.webhook.get" | "events.webhook.delete" | "events.webhook.deliveries" | "email.message.attachment" | "email.message.raw" | "payment.status" | "payment.get";
            method: "GET" | "POST" | "DELETE";
            path: string;
            price: components["schemas"]["Price"] | null;
            authentication: "none" | "x402-bootstrap" | "bearer" | "sign-in-with-x" | "unavailable";
            startHere: boolean;
            available: boolean;
            marketplaceListing: boolean;
            extension?: true;
            guide: string;
            purpose: string;
            inputs: {
                name: string;
                in: "body" | "query" | "path";
                required: boolean;
                type: string;
                format?: string;
                example: unknown;
                description: string;
            }[];
            errors: ("INVALID_REQUEST" | "AUTH_REQUIRED" | "INVALID_TOKEN" | "PAYMENT_REQUIRED" | "FORBIDDEN" | "RESOURCE_NOT_OWNED" | "RESOURCE_NOT_FOUND" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYMENT_PENDING" | "ALLOWANCE_EXHAUSTED" | "NUMBER_EXPIRING" | "NUMBER_RELEASED" | "PAYLOAD_TOO_LARGE" | "URI_TOO_LONG" | "UNSUPPORTED_MEDIA_TYPE" | "UPGRADE_REQUIRED" | "ONBOARDING_REQUIRED" | "RATE_LIMITED" | "HEADERS_TOO_LARGE" | "INTERNAL_ERROR" | "PROVIDER_TEMPORARY_FAILURE" | "PROVIDER_REJECTED" | "SERVICE_UNAVAILABLE")[];
            nextActions: {
                serviceId: "discovery.api" | "discovery.services" | "email.mailbox.create" | "email.mailbox.list" | "email.mailbox.update" | "email.mailbox.delete" | "email.message.send" | "email.message.query" | "phone.number.us.30d" | "phone.number.ca.30d" | "phone.number.renew.30d" | "phone.call.outbound.1m" | "phone.call.outbound.5m" | "phone.call.extend.1m" | "phone.call.inbound.add.10m" | "phone.number.release" | "phone.number.list" | "phone.call.get" | "phone.call.transcript" | "events.realtime-token" | "events.list" | "events.get" | "events.ack" | "events.ack-all" | "domain.register" | "auth.token" | "auth.revoke" | "phone.call.list" | "phone.voice.list" | "events.webhook.set" | "events.webhook.get" | "events.webhook.delete" | "events.webhook.deliveries" | "email.message.attachment" | "email.message.raw" | "payment.status" | "payment.get";
                method: "GET" | "POST" | "DELETE";
                path: string;
                why: string;
            }[];
        };
        ApiDescription: {
            name: string;
            version: string;
            environment: "production" | "sandbox";
            authentication: {
                scheme: "bearer";
                tokenPrefix: string;
                startHere: ("discovery.api" | "discovery.services" | "email.mailbox.create" | "email.mailbox.list" | "email.mailbox.update" | "email.mailbox.delete" | "email.message.send" | "email.message.query" | "phone.number.us.30d" | "phone.number.ca.30d" | "phone.number.renew.30d" | "phone.call.outbound.1m" | "phone.call.outbound.5m" | "phone.call.extend.1m" | "phone.call.inbound.add.10m" | "phone.number.release" | "phone.number.list" | "phone.call.get" | "phone.call.transcript" | "events.realtime-token" | "events.list" | "events.get" | "events.ack" | "events.ack-all" | "domain.register" | "auth.token" | "auth.revoke" | "phone.call.list" | "phone.voice.list" | "events.webhook.set" | "events.webhook.get" | "events.webhook.delete" | "events.webhook.deliveries" | "email.message.attachment" | "email.message.raw" | "payment.status" | "payment.get")[];
                rules: string[];
            };
            payment: {
                protocol: "x402";
                x402Version: 2;
                scheme: "exact";
                accepts: {
                    network: string;
                    asset: string;
                    payTo: string;
                    maxTimeoutSeconds: number;
                    extra: {
                        [key: string]: string | number;
                    };
                }[];
            };
            guides: {
                llms: string;
                serviceCatalog: string;
                openapi: string;
                docs: string;
            };
            services: {
                serviceId: "discovery.api" | "discovery.services" | "email.mailbox.create" | "email.mailbox.list" | "email.mailbox.update" | "email.mailbox.delete" | "email.message.send" | "email.message.query" | "phone.number.us.30d" | "phone.number.ca.30d" | "phone.number.renew.30d" | "phone.call.outbound.1m" | "phone.call.outbound.5m" | "phone.call.extend.1m" | "phone.call.inbound.add.10m" | "phone.number.release" | "phone.number.list" | "phone.call.get" | "phone.call.transcript" | "events.realtime-token" | "events.list" | "events.get" | "events.ack" | "events.ack-all" | "domain.register" | "auth.token" | "auth.revoke" | "phone.call.list" | "phone.voice.list" | "events.webhook.set" | "events.webhook.get" | "events.webhook.delete" | "events.webhook.deliveries" | "email.message.attachment" | "email.message.raw" | "payment.status" | "payment.get";
                method: "GET" | "POST" | "DELETE";
                path: string;
                price: components["schemas"]["Price"] | null;
                extension?: true;
            }[];
        };
        Operations: {
            describeApi: {
                input: Record<string, unknown>;
                output: components["schemas"]["ApiDescription"];
            };
            listServices: {
                input: Record<string, unknown>;
                output: {
                    items: components["schemas"]["Service"][];
                };
            };
            getService: {
                input: {
                    serviceId: string;
                };
                output: {
                    service: components["schemas"]["Service"];
                };
            };
            createMailbox: {
                input: components["schemas"]["CreateMailboxInput"];
                output: {
                    mailbox: components["schemas"]["Mailbox"];
                    authentication: {
                        accessToken: string;
                    };
                    operationId: string;
                };
            };
            listMailboxes: {
                input: Record<string, unknown>;
                output: {
                    items: components["schemas"]["Mailbox"][];
                };
            };
            updateMailbox: {
                input: components["schemas"]["UpdateMailboxInput"];
                output: {
                    mailbox: components["schemas"]["Mailbox"];
                    operationId: string;
                };
            };
            deleteMailbox: {
                input: components["schemas"]["DeleteMailboxInput"];
                output: {
                    mailboxId: string;
                    deleted: true;
                    messagesDeleted: number;
                    operationId: string;
                };
            };
            sendMessage: {
                input: components["schemas"]["SendMessageInput"];
                output: {
                    message: components["schemas"]["Message"];
                    operationId: string;
                };
            };
            queryMessages: {
                input: {
                    mailboxId?: string;
                    messageId?: string;
                    threadId?: string;
                    direction?: "inbound" | "outbound";
                    from?: string & (string & unknown);
                    q?: string;
                    limit?: number;
                    cursor?: string;
                    after?: string;
                    before?: string;
                };
                output: components["schemas"]["MessagePage"] | components["schemas"]["SingleMessage"];
            };
            purchaseUsNumber: {
                input: components["schemas"]["PurchaseNumberInput"];
                output: {
                    phoneNumberId: string;
                    number: string;
                    callbackVerificationSecret: string;
                    phoneNumber: components["schemas"]["PhoneNumber"];
                    authentication: {
                        accessToken: string;
                    };
                    operationId: string;
                };
            };
            purchaseCanadaNumber: {
                input: components["schemas"]["PurchaseNumberInput"];
                output: {
                    phoneNumberId: string;
                    number: string;
                    callbackVerificationSecret: string;
                    phoneNumber: components["schemas"]["PhoneNumber"];
                    authentication: {
                        accessToken: string;
                    };
                    operationId: string;
                };
            };
            renewNumber: {
                input: components["schemas"]["NumberIdInput"];
                output: {
                    phoneNumber: components["schemas"]["PhoneNumber"];
                    operationId: string;
                };
            };
            callOneMinute: {
                input: components["schemas"]["PlaceCallInput"];
                output: {
                    call: components["schemas"]["Call"];
                    operationId: string;
                };
            };
            callFiveMinutes: {
                input: components["schemas"]["PlaceCallInput"];
                output: {
                    call: components["schemas"]["Call"];
                    operationId: string;
                };
            };
            extendCall: {
                input: components["schemas"]["CallIdInput"];
                output: {
                    call: components["schemas"]["Call"];
                    operationId: string;
                };
            };
            addInboundMinutes: {
                input: components["schemas"]["NumberIdInput"];
                output: {
                    phoneNumber: components["schemas"]["PhoneNumber"];
                    operationId: string;
                };
            };
            releaseNumber: {
                input: components["schemas"]["ReleaseNumberInput"];
                output: {
                    phoneNumber: components["schemas"]["PhoneNumber"];
                };
            };
            listNumbers: {
                input: Record<string, unknown>;
                output: {
                    items: components["schemas"]["PhoneNumber"][];
                };
            };
            getCall: {
                input: {
                    callId: string;
                };
                output: {
                    call: components["schemas"]["Call"];
                };
            };
            getTranscript: {
                input: {
                    callId: string;
                };
                output: {
                    transcript: components["schemas"]["Transcript"];
                };
            };
            getRealtimeToken: {
                input: {
                    cursor?: string;
                };
                output: {
                    realtime: {
                        token: string;
                        expiresAt: string;
                        websocketUrl: string;
                    };
                    items: components["schemas"]["EventRecord"][];
                    nextCursor?: string | null;
                    pending?: number;
                };
            };
            listEvents: {
                input: components["schemas"]["ListEventsInput"];
                output: {
                    items: components["schemas"]["EventRecord"][];
                    nextCursor: string | null;
                };
            };
            getEvent: {
                input: components["schemas"]["EventIdInput"];
                output: {
                    event: components["schemas"]["EventRecord"];
                };
            };
            acknowledgeEvent: {
                input: components["schemas"]["EventIdInput"];
                output: {
                    event: components["schemas"]["EventRecord"];
                };
            };
            acknowledgeAllEvents: {
                input: components["schemas"]["AcknowledgeAllInput"];
                output: {
                    acknowledged: number;
                };
            };
            replayEvents: {
                input: {
                    limit?: number;
                    cursor?: string;
                };
                output: {
                    items: components["schemas"]["EventRecord"][];
                    nextCursor?: string | null;
                    pending?: number;
                };
            };
            acknowledgeEventById: {
                input: {
                    eventId: string;
                };
                output: {
                    event: components["schemas"]["EventRecord"];
                };
            };
            registerDomain: {
                input: Record<string, unknown>;
                output: unknown;
            };
            recoverToken: {
                input: Record<string, unknown>;
                output: {
                    authentication: {
                        accessToken: string;
                    };
                };
            };
            revokeTokens: {
                input: Record<string, unknown>;
                output: {
                    authentication: {
                        accessToken: string;
                    };
                };
            };
            listCalls: {
                input: {
                    phoneNumberId?: string;
                    direction?: "inbound" | "outbound";
                    after?: string;
                    before?: string;
                    limit?: number;
                    cursor?: string;
                };
                output: {
                    items: components["schemas"]["Call"][];
                    nextCursor: string | null;
                };
            };
            listVoices: {
                input: Record<string, unknown>;
                output: {
                    items: components["schemas"]["Voice"][];
                };
            };
            setEventWebhook: {
                input: components["schemas"]["SetEventWebhookInput"];
                output: {
                    webhook: components["schemas"]["EventWebhook"];
                    signingSecret: string;
                };
            };
            getEventWebhook: {
                input: Record<string, unknown>;
                output: {
                    webhook: components["schemas"]["EventWebhook"];
                };
            };
            deleteEventWebhook: {
                input: Record<string, unknown>;
                output: {
                    webhookId: string;
                    deleted: true;
                };
            };
            listWebhookDeliveries: {
                input: Record<string, unknown>;
                output: {
                    items: components["schemas"]["WebhookDelivery"][];
                };
            };
            getAttachment: {
                input: {
                    messageId: string;
                    attachmentId: string;
                };
                output: unknown;
            };
            getRawMessage: {
                input: {
                    messageId: string;
                };
                output: unknown;
            };
            readPaymentStatus: {
                input: {
                    "PAYMENT-SIGNATURE": string;
                };
                output: {
                    payment: components["schemas"]["PaymentStatus"];
                };
            };
            getPayment: {
                input: {
                    operationId: string;
                };
                output: {
                    payment: components["schemas"]["PaymentStatus"];
                };
            };
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
