//! What wgpu adds to a kernel so that it can do no harm, and which of it a kernel can do without.

/// The checks that a kernel takes. A device whose options ask for checked shaders has all of them in every kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checks {
    /// Indices of storage buffers and arrays are kept within them.
    bounds: bool,
    /// Loops are ended after 2^64 rounds, so that no compiler may take one for endless: a counter in each of them.
    loops: bool,
}

impl Checks {
    /// All of them: right for every kernel.
    pub(crate) const ALL: Self = Self { bounds: true, loops: true };

    /// Without the bound on loops.
    ///
    /// # Safety
    /// Every loop of the kernel ends, whatever the buffers hold.
    pub(crate) const unsafe fn without_loops(self) -> Self {
        Self { loops: false, ..self }
    }

    /// Without bounds checks.
    ///
    /// # Safety
    /// Every index of the kernel lies within the buffer, as bound, or the array that it is an index of, whatever the
    /// buffers hold: a program can write to them (see [`Device::as_wgpu`](crate::Device::as_wgpu)).
    pub(crate) const unsafe fn without_bounds(self) -> Self {
        Self { bounds: false, ..self }
    }

    /// The same with bounds checks.
    pub(crate) const fn with_bounds(self) -> Self {
        Self { bounds: true, ..self }
    }

    pub(super) fn compile(
        self,
        device: &wgpu::Device,
        descriptor: wgpu::ShaderModuleDescriptor<'_>,
    ) -> wgpu::ShaderModule {
        if self == Self::ALL {
            return device.create_shader_module(descriptor);
        }
        // Division keeps its guards: they give integer division by zero a value, which results depend on.
        let mut checks = wgpu::ShaderRuntimeChecks::checked();
        (checks.bounds_checks, checks.force_loop_bounding) = (self.bounds, self.loops);
        // SAFETY: what is left out, whoever made this has vouched for in `without_loops` and `without_bounds`.
        unsafe { device.create_shader_module_trusted(descriptor, checks) }
    }
}
