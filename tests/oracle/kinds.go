package main

import (
	"fmt"
	"math/rand"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
)

var kubeletGroupVersion = kubeletv1beta1.SchemeGroupVersion

var kinds = []kind{
	{"duration", durationEdges, randomDuration, duration, []string{"ok", "error"}, isError},
	{"toleration", none, randomToleration, toleration, []string{"true", "false"}, byMember("tolerates")},
	{"node-affinity", none, randomNodeAffinity, nodeAffinity, []string{"true", "false"}, byMember("required")},
	{"buckets", bucketEdges, randomShutdown, buckets, []string{"ok"}, isError},
	{"kubelet-config", bucketEdges, randomShutdown, kubeletConfig, []string{"true", "false"}, byMember("valid")},
	{"defaults", none, randomManifest, defaults, []string{"1", "30"}, byMember("grace")},
	{"pod-validity", none, randomPod, podValidity, []string{"true", "false"}, byMember("valid")},
	{"eviction", none, randomEviction, eviction, []string{"0", "30", "null"}, byMember("seconds")},
	{"label-selector", none, randomLabelSelector, labelSelector, []string{"true", "false", "error"}, byMember("matches")},
	{"yaml", yamlEdges, randomYAML, yamlToJSON, []string{"ok", "error"}, isError},
}

func none() []any { return nil }

func texts(all ...string) []any {
	inputs := []any{}
	for _, text := range all {
		inputs = append(inputs, text)
	}
	return inputs
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.Intn(len(from))] }

// A list of up to most things.
func some(r *rand.Rand, most int, make func() any) []any {
	list := []any{}
	for range r.Intn(most + 1) {
		list = append(list, make())
	}
	return list
}

func durationEdges() []any {
	return texts("", "0", "-0", "+0", "2m30s", "1.5h", "1d", "-+5s", ".5s", "5.s", "1m1h", "1h1h", "99999999999999999999h",
		"1µs", "1μs", "1us", "+5s", "-5s", " 5s", "5s ", "5 s", "5s0", "5", ".", ".s", "s", "1e3s", "0x5s", "1S", "1ms1ns",
		"9223372036854775807ns", "9223372036854775808ns", "-9223372036854775808ns", "-9223372036854775809ns",
		"2562047h47m16.854775807s", "2562047h47m16.854775808s", "0.9999999999999999999999s", "0.100000000000000000000h",
		"0.9223372036854775807h", "0.3333333333333333333h", "1.0000000000000000000000000001m")
}

func randomDuration(r *rand.Rand) any {
	var text strings.Builder
	text.WriteString(pick(r, "", "", "", "-", "+"))
	for range r.Intn(4) {
		text.WriteString(pick(r, "0", "1", "59", "007", "1.5", ".25", "3.", "99999999999", "", "1.123456789123456789"))
		text.WriteString(pick(r, "s", "s", "m", "h", "ms", "us", "µs", "ns", "", "d"))
	}
	return text.String()
}

var keys = []string{"a", "A", "a/b", "pool", ""}
var values = []string{"", "true", "1", "5", "-5", "05", "+5", "9223372036854775807", "9223372036854775808", "x"}

// A map in the order of its keys, so that the same seed gives the same text.
func sorted(r *rand.Rand, names []string, value func(string) any) map[string]any {
	fields := map[string]any{}
	for _, name := range names {
		if r.Intn(4) != 0 {
			fields[name] = value(name)
		}
	}
	return fields
}

func oneToleration(r *rand.Rand) any {
	return sorted(r, []string{"key", "operator", "value", "effect", "tolerationSeconds"}, func(name string) any {
		switch name {
		case "key":
			return pick(r, append(keys, "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")...)
		case "operator":
			return pick(r, "", "Equal", "Exists", "Exists", "Gt", "Lt", "In")
		case "value":
			return pick(r, values...)
		case "effect":
			return pick(r, "", "NoSchedule", "NoExecute", "NoExecute", "PreferNoSchedule", "Never")
		}
		return pick(r, -1, 0, 30, 300)
	})
}

func randomToleration(r *rand.Rand) any {
	asked := oneToleration(r).(object)
	if r.Intn(2) == 0 {
		asked["key"], asked["effect"] = "a", "NoSchedule"
	}
	return object{
		"toleration": asked,
		"taint": object{"key": pick(r, "a", "a", "pool"), "value": pick(r, values...),
			"effect": pick(r, "NoSchedule", "NoExecute")},
	}
}

func requirement(r *rand.Rand, key string) any {
	return object{"key": key, "operator": pick(r, "In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Like"),
		"values": pick(r, []string{}, []string{"x"}, []string{"x"}, []string{"x", "5"}, []string{"5"}, []string{"5"})}
}

func term(r *rand.Rand) any {
	fields := object{}
	if r.Intn(5) != 0 {
		fields["matchExpressions"] = some(r, 2, func() any { return requirement(r, pick(r, "a", "b", "type")) })
	}
	if r.Intn(5) == 0 {
		fields["matchFields"] = []any{requirement(r, pick(r, "metadata.name", "metadata.name", "spec"))}
	}
	return fields
}

func affinity(r *rand.Rand) any {
	node := object{}
	if r.Intn(5) != 0 {
		node["requiredDuringSchedulingIgnoredDuringExecution"] =
			object{"nodeSelectorTerms": some(r, 3, func() any { return term(r) })}
	}
	if r.Intn(3) == 0 {
		node["preferredDuringSchedulingIgnoredDuringExecution"] = some(r, 2, func() any {
			return object{"weight": pick(r, 1, 50, 100), "preference": term(r)}
		})
	}
	return object{"nodeAffinity": node}
}

func randomLabels(r *rand.Rand) any {
	return sorted(r, []string{"a", "b", "type"}, func(string) any { return pick(r, "x", "5", "7", "", "y") })
}

func randomNodeAffinity(r *rand.Rand) any {
	input := object{"nodeSelector": nil, "affinity": nil, "node": object{"name": pick(r, "x", "n"), "labels": randomLabels(r)}}
	if r.Intn(4) == 0 {
		input["nodeSelector"] = object{pick(r, "a", "b"): pick(r, "x", "5")}
	}
	if r.Intn(8) != 0 {
		input["affinity"] = affinity(r)
	}
	return input
}

func bucketEdges() []any {
	priorities := []int32{-2147483648, -1, 0, 999, 1000, 5000, 9999, 10000, 100000, 1000000000, 2000000000, 2000001000, 2147483647}
	bucket := func(priority, seconds int) object {
		return object{"priority": priority, "shutdownGracePeriodSeconds": seconds}
	}
	two := func(total, critical string) any {
		return object{"shutdownGracePeriod": total, "shutdownGracePeriodCriticalPods": critical, "priorities": priorities}
	}
	by := func(buckets ...object) any {
		return object{"shutdownGracePeriod": "0s", "shutdownGracePeriodCriticalPods": "0s", "byPodPriority": buckets, "priorities": priorities}
	}
	return []any{
		two("30s", "10s"), two("300s", "20s"), two("150s", "30s"), two("0s", "0s"), two("30s", "30s"), two("30s", "0s"),
		two("30s", "60s"), two("500ms", "0s"), two("1.5s", "700ms"), two("2m30.9s", "30.2s"), two("0s", "10s"),
		by(bucket(0, 60), bucket(1000, 120), bucket(10000, 180), bucket(100000, 10)),
		by(bucket(10000, 180), bucket(0, 60)), by(bucket(1000, 7), bucket(2000, 8)),
		by(bucket(0, 60), bucket(10000, 60), bucket(2000000000, 30), bucket(2000001000, 10)),
	}
}

func randomShutdown(r *rand.Rand) any {
	input := object{
		"shutdownGracePeriod":             pick(r, "0s", "0s", "1s", "30s", "90s", "2m", "1.7s"),
		"shutdownGracePeriodCriticalPods": pick(r, "0s", "0s", "1s", "10s", "30s", "90s", "1.2s"),
		"priorities":                      []int{r.Intn(20) - 5, r.Intn(3000), -r.Intn(1 << 31), 2000000000 + r.Intn(3)*500},
	}
	if r.Intn(2) == 0 {
		used := map[int]bool{}
		buckets := []any{}
		for range 1 + r.Intn(4) {
			priority := pick(r, 0, -10, 10, 1000, 2000, 2000000000, 2000001000)
			if !used[priority] {
				used[priority] = true
				buckets = append(buckets, object{"priority": priority, "shutdownGracePeriodSeconds": r.Intn(90)})
			}
		}
		input["byPodPriority"] = buckets
	}
	return input
}

func sortByPriority(list []kubeletconfig.ShutdownGracePeriodByPodPriority) {
	sort.Slice(list, func(i, j int) bool { return list[i].Priority < list[j].Priority })
}

func podSpec(r *rand.Rand) object {
	spec := object{"containers": []any{object{"name": "c", "image": "i"}}, "restartPolicy": "Never"}
	if r.Intn(3) != 0 {
		spec["terminationGracePeriodSeconds"] = pick(r, -5, 0, 1, 30, 45, 600)
	}
	if r.Intn(3) != 0 {
		spec["tolerations"] = some(r, 3, func() any { return oneToleration(r) })
	}
	return spec
}

func randomManifest(r *rand.Rand) any {
	metadata := object{"name": "o", "namespace": "shop"}
	template := object{"metadata": object{"labels": object{"app": "o"}}, "spec": podSpec(r)}
	spec := object{"template": template, "selector": object{"matchLabels": object{"app": "o"}}}
	switch choice := r.Intn(10); choice {
	case 0:
		spec["replicas"] = r.Intn(3)
		fallthrough
	case 1:
		return object{"apiVersion": "apps/v1", "kind": pick(r, "Deployment", "StatefulSet", "ReplicaSet"), "metadata": metadata, "spec": spec}
	case 2:
		return object{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": spec}
	case 3:
		return object{"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": object{"template": template}}
	case 4:
		return object{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata, "spec": object{
			"schedule": "* * * * *", "jobTemplate": object{"spec": object{"template": template}}}}
	}
	return object{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": podSpec(r)}
}

func hook(r *rand.Rand) any {
	return object{pick(r, "preStop", "postStart"): object{"sleep": object{"seconds": pick(r, -1, 0, 5, 30, 31, 45, 46)}}}
}

func constraint(r *rand.Rand) any {
	fields := object{
		"maxSkew": pick(r, 1, 1, 1, 2, 0, -1), "topologyKey": pick(r, "zone", "zone", "host", "a/b", "", "a b"),
		"whenUnsatisfiable": pick(r, "DoNotSchedule", "ScheduleAnyway", "ScheduleAnyway", "Never"),
	}
	if r.Intn(3) != 0 {
		fields["labelSelector"] = object{"matchLabels": object{pick(r, "app", "app", "pod-template-hash"): "o"}}
	}
	if r.Intn(3) == 0 {
		fields["matchLabelKeys"] = []string{pick(r, "pod-template-hash", "pod-template-hash", "app")}
	}
	if r.Intn(5) == 0 {
		fields["minDomains"] = pick(r, 0, 1, 2)
	}
	if r.Intn(5) == 0 {
		fields[pick(r, "nodeAffinityPolicy", "nodeTaintsPolicy")] = pick(r, "Honor", "Ignore", "honor")
	}
	return fields
}

// A pod that is valid but for a change or two.
func randomPod(r *rand.Rand) any {
	container := object{"name": "c", "image": "i"}
	spec := object{"containers": []any{container}, "restartPolicy": "Always"}
	labels := object{"app": "o", "pod-template-hash": "5f4b"}
	for range 1 + r.Intn(2) {
		switch r.Intn(5) {
		case 0:
			spec["tolerations"] = some(r, 2, func() any { return oneToleration(r) })
		case 1:
			spec["topologySpreadConstraints"] = some(r, 2, func() any { return constraint(r) })
		case 2:
			spec["terminationGracePeriodSeconds"] = pick(r, -1, 0, 5, 30, 45)
			container["lifecycle"] = hook(r)
		case 3:
			labels[pick(r, "ok", "a/b", "a b", "-a", "A/b", "a/b/c", strings.Repeat("x", 63), strings.Repeat("x", 64))] =
				pick(r, "", "ok", "a b", "-a", "a_b.c", strings.Repeat("x", 63), strings.Repeat("x", 64))
		case 4:
			spec["nodeSelector"] = object{pick(r, "a", "a/b", "a b"): pick(r, "x", "", "x y")}
		}
	}
	metadata := object{"name": "p", "namespace": "shop", "labels": labels}
	return object{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
}

func randomEviction(r *rand.Rand) any {
	return object{
		"tolerations": some(r, 4, func() any {
			return sorted(r, []string{"key", "operator", "effect", "tolerationSeconds", "value"}, func(name string) any {
				switch name {
				case "key":
					return pick(r, v1.TaintNodeNotReady, v1.TaintNodeNotReady, v1.TaintNodeUnreachable, "")
				case "operator":
					return pick(r, "Exists", "Exists", "Equal")
				case "effect":
					return pick(r, "NoExecute", "NoExecute", "", "NoSchedule")
				case "value":
					return pick(r, "", "", "x")
				}
				return pick(r, -1, 0, 10, 30, 300)
			})
		}),
		"taint": pick(r, v1.TaintNodeNotReady, v1.TaintNodeUnreachable),
	}
}

func randomLabelSelector(r *rand.Rand) any {
	selector := object{}
	if r.Intn(2) == 0 {
		selector["matchLabels"] = object{pick(r, "a", "b"): pick(r, "x", "5")}
	}
	if r.Intn(3) != 0 {
		selector["matchExpressions"] = some(r, 2, func() any {
			return object{"key": pick(r, "a", "b", "type"), "operator": pick(r, "In", "NotIn", "Exists", "DoesNotExist", "Gt"),
				"values": pick(r, []string{}, []string{"x"}, []string{"x", "5"}, []string{""})}
		})
	}
	return object{"selector": selector, "labels": randomLabels(r)}
}

var scalars = []string{
	"yes", "Yes", "YES", "yEs", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF", "y", "Y", "n", "N", "true", "True", "TRUE",
	"tRue", "false", "False", "FALSE", "null", "Null", "NULL", "~", "", "0644", "0o644", "0O17", "0x1f", "0X1F", "0b101", "-0b1",
	"0", "-0", "+1", "-1", "00", "08", "09.5", "1_000", "_1", "1_", "1__0", "0x_f", "1.5", ".5", "5.", "-.5", "1e3", "1E3", "1e+3",
	"1.e3", "1e", "e3", ".e3", ".", "-", "+", "1.2.3", "1:30", "190:20:30", "2001-01-01", "2001-01-01T00:00:00Z", "9223372036854775807",
	"9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
	"1e400", ".inf", "-.inf", "+.Inf", ".nan", ".NaN", "inf", "nan", "60.0", "1e2", "0.1", "123456789012345678901234567890",
	"a b", "a: b", "a #b", "a#b", "'1'", "\"1\"", "\"\\u00e9\"", "'it''s'", "!!str 1", "!!int \"1\"", "!!float 1", "!!bool yes", "!!null x",
	"!!binary aGk=", "!custom x", "=", "<<", "0.", "1_0.5_0", "0x", "0b", "0b2", "0o8", "1e-7", "12e03", "-2E+05", "685.230_15e+03",
	"@a", "`a", "%a", "&a 1", "*a", "[1, yes]", "{a: no}", "{a: 1, a: 2}", "? a", "| a", "- a", "a:", ":a", "a:b", "[a, ]", "[, a]", "{a}",
}

func yamlEdges() []any {
	inputs := []any{}
	for _, scalar := range scalars {
		inputs = append(inputs, "a: "+scalar+"\n")
		if !strings.ContainsAny(scalar, "[{?|") && scalar != "" {
			inputs = append(inputs, scalar+": v\n")
		}
	}
	return append(inputs, texts(
		"a: &x {b: 1}\nc: *x\n", "a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n", "a: &x {b: 1}\ne: &y {b: 2}\nd:\n  <<: [*x, *y]\n",
		"a: |\n  x\n  y\n", "a: |-\n  x\n\n", "a: |+\n  x\n\n", "a: >\n  x\n  y\n\n  z\n", "a: >-\n  x\n   y\n  z\n", "a: |2\n   x\n",
		"- 1\n- [a, b]\n- {c: d}\n", "a:\n- 1\n-  b: 2\n   c: 3\n", "a:\n  b: 1\n c: 2\n", "a: 1\nb\n", "a: 'x\n  y'\n", "a: \"x\\\n  y\"\n",
		"a: x\n  y\n", "\ta: 1\n", "a:\n\tb: 1\n", "a: {{ b }}\n", "{{ b }}: a\n", "a: \"{{ b }}\"\n", "# c\n", "", "a", "1", "[]", "{}",
		"{\"a\": 1, \"b\": [true, null]}", "a: 1\na: 2\n", "? a\n: b\n", "a: !!str\n", "a: b: c\n", "a: 'x", "a: [1", "a: {b: 1",
		"%YAML 1.1\n---\na: 1\n", "a: \"\\x41\\t\\n\"\n", "a: \u00e9\n", "a: \"\\ud83d\\ude00\"\n", "1: a\ntrue: b\n1.5: c\nnull: d\n")...)
}

func randomYAML(r *rand.Rand) any {
	var text strings.Builder
	for i := range 1 + r.Intn(4) {
		switch r.Intn(4) {
		case 0:
			fmt.Fprintf(&text, "k%d:\n  - %s\n  - %s\n", i, pick(r, scalars...), pick(r, scalars...))
		case 1:
			fmt.Fprintf(&text, "k%d: [%s, %s]\n", i, pick(r, scalars...), pick(r, scalars...))
		default:
			fmt.Fprintf(&text, "k%d: %s\n", i, pick(r, scalars...))
		}
	}
	return text.String()
}
