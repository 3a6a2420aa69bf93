package main

import (
	"context"
	"encoding/json"
	"strings"
	"time"
	_ "unsafe" // for linkname

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/endpoints/request"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	v1helper "k8s.io/kubernetes/pkg/apis/core/v1/helper"
	_ "k8s.io/kubernetes/pkg/controller/tainteviction"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	kubeletscheme "k8s.io/kubernetes/pkg/kubelet/apis/config/scheme"
	kubeletvalidation "k8s.io/kubernetes/pkg/kubelet/apis/config/validation"
	_ "k8s.io/kubernetes/pkg/kubelet/nodeshutdown"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"sigs.k8s.io/yaml"
)

//go:linkname migrateConfig k8s.io/kubernetes/pkg/kubelet/nodeshutdown.migrateConfig
func migrateConfig(total, critical time.Duration) []kubeletconfig.ShutdownGracePeriodByPodPriority

// As the kubelet declares it.
type podShutdownGroup struct {
	kubeletconfig.ShutdownGracePeriodByPodPriority
	Pods []*v1.Pod
}

//go:linkname groupByPriority k8s.io/kubernetes/pkg/kubelet/nodeshutdown.groupByPriority
func groupByPriority(buckets []kubeletconfig.ShutdownGracePeriodByPodPriority, pods []*v1.Pod) []podShutdownGroup

//go:linkname getMinTolerationTime k8s.io/kubernetes/pkg/controller/tainteviction.getMinTolerationTime
func getMinTolerationTime(tolerations []v1.Toleration) time.Duration

type object = map[string]any

func isError(want any) string {
	if answer, ok := want.(object); ok && answer["error"] == true {
		return "error"
	}
	return "ok"
}

func byMember(name string) func(any) string {
	return func(want any) string {
		if isError(want) == "error" {
			return "error"
		}
		return string(must(json.Marshal(want.(object)[name])))
	}
}

func duration(input any) any {
	parsed, err := time.ParseDuration(input.(string))
	if err != nil {
		return object{"error": true}
	}
	return object{"ns": parsed.Nanoseconds()}
}

func toleration(input any) any {
	asked := into[struct {
		Toleration v1.Toleration
		Taint      v1.Taint
	}](input)
	return object{"tolerates": asked.Toleration.ToleratesTaint(klog.Background(), &asked.Taint, true)}
}

func nodeAffinity(input any) any {
	asked := into[struct {
		NodeSelector map[string]string
		Affinity     *v1.Affinity
		Node         struct {
			Name   string
			Labels map[string]string
		}
	}](input)
	bearer := &v1.Pod{Spec: v1.PodSpec{NodeSelector: asked.NodeSelector, Affinity: asked.Affinity}}
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: asked.Node.Name, Labels: asked.Node.Labels}}
	required, err := nodeaffinity.GetRequiredNodeAffinity(bearer).Match(node)
	answer := object{"required": required && err == nil, "preferredScore": nil}
	if asked.Affinity != nil && asked.Affinity.NodeAffinity != nil {
		preferred := asked.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
		if terms, err := nodeaffinity.NewPreferredSchedulingTerms(preferred); err == nil {
			answer["preferredScore"] = terms.Score(node)
		}
	}
	return answer
}

type shutdown struct {
	ShutdownGracePeriod             string
	ShutdownGracePeriodCriticalPods string
	ByPodPriority                   []kubeletconfig.ShutdownGracePeriodByPodPriority
	Priorities                      []int32
}

func (asked shutdown) durations() (total, critical time.Duration) {
	return must(time.ParseDuration(asked.ShutdownGracePeriod)),
		must(time.ParseDuration(asked.ShutdownGracePeriodCriticalPods))
}

// What each pod gets: the kubelet sorts the buckets, and groups the pods by them.
func buckets(input any) any {
	asked := into[shutdown](input)
	list := asked.ByPodPriority
	if len(list) == 0 {
		list = migrateConfig(asked.durations())
	}
	sortByPriority(list)
	sum := int64(0)
	used := []object{}
	for _, bucket := range list {
		sum += bucket.ShutdownGracePeriodSeconds
		used = append(used, object{"priority": bucket.Priority, "seconds": bucket.ShutdownGracePeriodSeconds})
	}
	seconds := []any{}
	for _, priority := range asked.Priorities {
		one := &v1.Pod{Spec: v1.PodSpec{Priority: &priority}}
		var of any
		if len(list) == 0 { // The kubelet does not start its shutdown manager.
			seconds = append(seconds, of)
			continue
		}
		for _, group := range groupByPriority(list, []*v1.Pod{one}) {
			if len(group.Pods) > 0 {
				of = group.ShutdownGracePeriodSeconds
			}
		}
		seconds = append(seconds, of)
	}
	return object{"buckets": used, "sum": sum, "seconds": seconds}
}

func kubeletConfig(input any) any {
	asked := into[shutdown](input)
	scheme, _ := must2(kubeletscheme.NewSchemeAndCodecs())
	config := &kubeletconfig.KubeletConfiguration{}
	external := must(scheme.New(kubeletGroupVersion.WithKind("KubeletConfiguration")))
	scheme.Default(external)
	must(0, scheme.Convert(external, config, nil))
	config.FailCgroupV1 = false
	config.ContainerRuntimeEndpoint = "unix:///run/containerd/containerd.sock"
	total, critical := asked.durations()
	config.ShutdownGracePeriod.Duration = total
	config.ShutdownGracePeriodCriticalPods.Duration = critical
	config.ShutdownGracePeriodByPodPriority = asked.ByPodPriority
	err := kubeletvalidation.ValidateKubeletConfiguration(config, utilfeature.DefaultFeatureGate)
	if err != nil && !strings.Contains(strings.ToLower(err.Error()), "shutdown") {
		fail("the configuration around it is not valid: " + err.Error())
	}
	return object{"valid": err == nil}
}

func must2[A, B any](a A, b B, err error) (A, B) {
	must(0, err)
	return a, b
}

func decode(manifest any) runtime.Object {
	text := must(json.Marshal(manifest))
	return must(runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), text))
}

// What a pod, or the template of a workload, is after the API server's defaulting and DefaultTolerationSeconds.
func defaults(input any) any {
	var spec *core.PodSpec
	var replicas any
	switch decoded := decode(input).(type) {
	case *core.Pod:
		tolerationSeconds(decoded)
		spec = &decoded.Spec
	case *apps.Deployment:
		spec, replicas = &decoded.Spec.Template.Spec, decoded.Spec.Replicas
	case *apps.StatefulSet:
		spec, replicas = &decoded.Spec.Template.Spec, decoded.Spec.Replicas
	case *apps.ReplicaSet:
		spec, replicas = &decoded.Spec.Template.Spec, decoded.Spec.Replicas
	case *apps.DaemonSet:
		spec = &decoded.Spec.Template.Spec
	case *batch.Job:
		spec = &decoded.Spec.Template.Spec
	case *batch.CronJob:
		spec = &decoded.Spec.JobTemplate.Spec.Template.Spec
	}
	external := v1.PodSpec{}
	must(0, legacyscheme.Scheme.Convert(spec, &external, nil))
	return object{
		"grace":       external.TerminationGracePeriodSeconds,
		"tolerations": external.Tolerations,
		"replicas":    replicas,
	}
}

func tolerationSeconds(created *core.Pod) {
	plugin := defaulttolerationseconds.NewDefaultTolerationSeconds()
	plugin.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	attributes := admission.NewAttributesRecord(created, nil, core.Kind("Pod").WithVersion("v1"), "shop", "p",
		core.Resource("pods").WithVersion("v1"), "", admission.Create, nil, false, nil)
	must(0, plugin.Admit(context.Background(), attributes, nil))
}

// What the API server's own strategy for pods says on creation, after all it does to a pod before.
func podErrors(manifest any) field.ErrorList {
	created := decode(manifest).(*core.Pod)
	tolerationSeconds(created)
	ctx := request.WithNamespace(context.Background(), created.Namespace)
	pod.Strategy.PrepareForCreate(ctx, created)
	return pod.Strategy.Validate(ctx, created)
}

func podValidity(input any) any {
	fields := []string{}
	for _, err := range podErrors(input) {
		fields = append(fields, err.Field)
	}
	return object{"valid": len(fields) == 0, "fields": fields}
}

func eviction(input any) any {
	asked := into[struct {
		Tolerations []v1.Toleration
		Taint       string
	}](input)
	taint := v1.Taint{Key: asked.Taint, Effect: v1.TaintEffectNoExecute}
	tolerated, used := v1helper.GetMatchingTolerations(klog.Background(), []v1.Taint{taint}, asked.Tolerations)
	if !tolerated {
		return object{"seconds": 0, "tolerated": false}
	}
	least := getMinTolerationTime(used)
	if least < 0 {
		return object{"seconds": nil, "tolerated": true}
	}
	return object{"seconds": int64(least / time.Second), "tolerated": true}
}

func labelSelector(input any) any {
	asked := into[struct {
		Selector *metav1.LabelSelector
		Labels   map[string]string
	}](input)
	selector, err := metav1.LabelSelectorAsSelector(asked.Selector)
	if err != nil {
		return object{"error": true}
	}
	return object{"matches": selector.Matches(labels.Set(asked.Labels))}
}

func yamlToJSON(input any) any {
	text, err := yaml.YAMLToJSON([]byte(input.(string)))
	if err != nil {
		return object{"error": true}
	}
	return object{"json": json.RawMessage(text)}
}

// Applies a JSON Patch with the library that the API server uses.
func apply(input map[string]any) any {
	patch, err := jsonpatch.DecodePatch(must(json.Marshal(input["patch"])))
	if err != nil {
		return object{"error": err.Error()}
	}
	result, err := patch.Apply(must(json.Marshal(input["doc"])))
	if err != nil {
		return object{"error": err.Error()}
	}
	return object{"result": json.RawMessage(result)}
}

// Says whether the API server would accept a pod.
func validate(input map[string]any) any {
	messages := []string{}
	for _, err := range podErrors(input["pod"]) {
		messages = append(messages, err.Error())
	}
	return object{"errors": messages}
}
