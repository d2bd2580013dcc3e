package signage;

import com.hivemq.extension.sdk.api.ExtensionMain;
import com.hivemq.extension.sdk.api.async.Async;
import com.hivemq.extension.sdk.api.async.TimeoutFallback;
import com.hivemq.extension.sdk.api.auth.SimpleAuthenticator;
import com.hivemq.extension.sdk.api.auth.parameter.SimpleAuthInput;
import com.hivemq.extension.sdk.api.auth.parameter.SimpleAuthOutput;
import com.hivemq.extension.sdk.api.auth.parameter.TopicPermission.MqttActivity;
import com.hivemq.extension.sdk.api.auth.parameter.TopicPermission.PermissionType;
import com.hivemq.extension.sdk.api.auth.parameter.TopicPermission.Qos;
import com.hivemq.extension.sdk.api.auth.parameter.TopicPermission.SharedSubscription;
import com.hivemq.extension.sdk.api.packets.auth.DefaultAuthorizationBehaviour;
import com.hivemq.extension.sdk.api.packets.auth.ModifiableDefaultPermissions;
import com.hivemq.extension.sdk.api.packets.connect.ConnackReasonCode;
import com.hivemq.extension.sdk.api.packets.connect.ConnectPacket;
import com.hivemq.extension.sdk.api.parameter.ExtensionStartInput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStartOutput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStopInput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStopOutput;
import com.hivemq.extension.sdk.api.services.Services;
import com.hivemq.extension.sdk.api.services.builder.Builders;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Asks {@code python -m bridge.broker_logins} once for each connection whether the client may sign in, and what it may
 * publish and subscribe to. While nobody answers, nobody gets in: the client hears 0x88 and tries again.
 */
public final class Logins implements ExtensionMain, SimpleAuthenticator {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(LIMIT)
            .build();
    private final URI address =
            URI.create(System.getenv().getOrDefault("BROKER_LOGINS_URL", "http://127.0.0.1:8091") + "/session");

    @Override
    public void extensionStart(ExtensionStartInput input, ExtensionStartOutput output) {
        Services.securityRegistry().setAuthenticatorProvider(client -> this);
    }

    @Override
    public void extensionStop(ExtensionStopInput input, ExtensionStopOutput output) {}

    @Override
    public void onConnect(SimpleAuthInput input, SimpleAuthOutput output) {
        ConnectPacket asked = input.getConnectPacket();
        if (asked.getUserName().isEmpty() || asked.getPassword().isEmpty()) {
            output.failAuthentication(ConnackReasonCode.BAD_USER_NAME_OR_PASSWORD);
            return;
        }
        String form = "username=" + encoded(asked.getUserName().get())
                + "&password=" + encoded(text(asked.getPassword().get()))
                + "&client_id=" + encoded(asked.getClientId());
        HttpRequest question = HttpRequest.newBuilder(address)
                .timeout(LIMIT)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(form))
                .build();
        Async<SimpleAuthOutput> waits = output.async(
                LIMIT.multipliedBy(2), TimeoutFallback.FAILURE, ConnackReasonCode.SERVER_UNAVAILABLE);
        http.sendAsync(question, HttpResponse.BodyHandlers.ofString()).whenComplete((answer, error) -> {
            try {
                decide(output, answer);
            } finally {
                waits.resume();
            }
        });
    }

    /** The first line of the answer is {@code allow} or {@code deny}; each line after it is a right. */
    private static void decide(SimpleAuthOutput output, HttpResponse<String> answer) {
        if (answer == null || answer.statusCode() != 200) {
            output.failAuthentication(ConnackReasonCode.SERVER_UNAVAILABLE);
            return;
        }
        List<String> lines = answer.body().lines().collect(Collectors.toList());
        if (lines.isEmpty() || !lines.get(0).equals("allow")) {
            output.failAuthentication(ConnackReasonCode.NOT_AUTHORIZED);
            return;
        }
        ModifiableDefaultPermissions rights = output.getDefaultPermissions();
        rights.setDefaultBehaviour(DefaultAuthorizationBehaviour.DENY);
        for (String line : lines.subList(1, lines.size())) {
            String[] words = line.split(" ", 2); // "read" or "write", and a topic filter
            rights.add(Builders.topicPermission()
                    .topicFilter(words[1])
                    .type(PermissionType.ALLOW)
                    .activity(words[0].equals("write") ? MqttActivity.PUBLISH : MqttActivity.SUBSCRIBE)
                    .qos(Qos.ZERO_ONE)
                    .sharedSubscription(SharedSubscription.NOT_SHARED)
                    .build());
        }
        output.authenticateSuccessfully();
    }

    private static String text(ByteBuffer bytes) {
        return StandardCharsets.UTF_8.decode(bytes).toString();
    }

    private static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8);
    }
}
